// Which technique of training goes with which route, told once. A technique is what a step does besides plain gradients
// and updates; a route is a way to compute steps. Executor, trainer, settings, recipes, help texts and --backend auto
// ask here. A new technique is a row of TechniqueTable().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lamina/base/error.h"
#include "lamina/nn/step_options.h"

namespace lamina {

enum class Technique : uint8_t {
  kLowPrecision,
  kClipping,
  kFrozen,
  kRates,
  kTrainedRadius,
  kResidual,
  kDropout,
  kMixup,
  kNormalization,
  kFrontScale,
  kMembers,
  kEmbedding
};

enum class Route : uint8_t {
  kWholeNetwork,  // Backend::PrepareNetwork()
  kFusedUpdate,   // parameters are updated as their gradients come
  kRecorded,      // Backend::MakeRecordedSteps()
  kParts,         // Executor::PartGradient()
  kShards,        // ShardedSteps
  kAllRows        // Lbfgs
};

struct TechniqueRow {
  Technique technique;
  std::string_view words;                    // "dropout", behind "cannot be combined with"
  std::array<std::string_view, 3> settings;  // that ask for it; those behind the first empty one are none
  std::array<Route, 6> refused_by = {};      // the first `refusals` of them
  int refusals = 0;

  bool RefusedBy(Route route) const;
};

std::span<const TechniqueRow> TechniqueTable();

/// A set of techniques.
class Techniques {
 public:
  void Add(Technique technique, bool used = true) { bits_ |= used ? Bit(technique) : 0; }
  bool Has(Technique technique) const { return (bits_ & Bit(technique)) != 0; }

 private:
  static uint32_t Bit(Technique technique) { return uint32_t{1} << static_cast<unsigned>(technique); }
  uint32_t bits_ = 0;
};

/// What steps of such a network use.
Techniques TechniquesOf(std::span<const LayerSpec> layers, int64_t members, const StepOptions& options);

/// The first technique of `used` that the route cannot be combined with; null: none.
const TechniqueRow* FirstRefused(Route route, const Techniques& used);
/// The same as a verdict: "a step in shards cannot be combined with dropout".
Verdict Accepts(Route route, const Techniques& used);

/// For the help of a setting that asks for a technique: "; not with --shards or with --optimizer lbfgs". Empty for
/// other settings, and where nothing refuses it that a user can ask for.
std::string RefusalsText(std::string_view setting);

}  // namespace lamina
