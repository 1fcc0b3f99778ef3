// The table of techniques, and what is asked of it.
#include "lamina/nn/routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace lamina {
namespace {

using R = Route;

template <class... Routes>
constexpr TechniqueRow Row(Technique technique, std::string_view words, std::array<std::string_view, 3> settings,
                           Routes... refused_by) {
  return {technique, words, settings, {refused_by...}, sizeof...(refused_by)};
}

// Rows that need their whole batch cannot be cut, and gradients that need one another cannot be fused. What depends on
// the number of a step cannot be recorded.
constexpr TechniqueRow kTechniques[] = {
    Row(Technique::kLowPrecision, "operands of lower precision", {"precision"}),
    Row(Technique::kClipping, "clipped gradients", {"clip-norm"}, R::kWholeNetwork, R::kFusedUpdate, R::kAllRows),
    Row(Technique::kFrozen, "frozen layers", {"freeze"}, R::kWholeNetwork, R::kAllRows),
    Row(Technique::kRates, "learning rates of single layers", {"parametrization", "bias-rate", "embedding-rate"},
        R::kWholeNetwork, R::kFusedUpdate, R::kAllRows),
    Row(Technique::kTrainedRadius, "trained radii", {}, R::kParts, R::kAllRows),
    Row(Technique::kResidual, "residual blocks", {"residual"}, R::kWholeNetwork, R::kParts),
    Row(Technique::kDropout, "dropout", {"dropout"}, R::kWholeNetwork, R::kRecorded, R::kParts, R::kShards,
        R::kAllRows),
    Row(Technique::kMixup, "mixup", {"mixup"}, R::kWholeNetwork, R::kRecorded, R::kParts, R::kShards, R::kAllRows),
    Row(Technique::kNormalization, "normalized layers", {"normalization"}, R::kWholeNetwork, R::kFusedUpdate,
        R::kRecorded, R::kParts, R::kShards, R::kAllRows),
    Row(Technique::kFrontScale, "a front scale", {"front-scale"}, R::kWholeNetwork, R::kFusedUpdate, R::kParts,
        R::kShards, R::kAllRows),
    Row(Technique::kMembers, "several members", {"members"}, R::kWholeNetwork, R::kFusedUpdate, R::kParts, R::kShards,
        R::kAllRows),
    Row(Technique::kEmbedding, "embeddings of inputs", {"number-embedding", "category-embedding"}, R::kWholeNetwork,
        R::kFusedUpdate, R::kParts)};

struct RouteRow {
  Route route;
  std::string_view subject;
  std::string_view asked_by = {};  // behind "not", where a user can ask for it
};

constexpr RouteRow kRoutes[] = {{R::kWholeNetwork, "a step of the whole network at once"},
                                {R::kFusedUpdate, "an update in the pass of the gradient"},
                                {R::kRecorded, "a recorded step"},
                                {R::kParts, "a gradient in parts"},
                                {R::kShards, "a step in shards", "with --shards"},
                                {R::kAllRows, "lbfgs", "with --optimizer lbfgs"}};

}  // namespace

bool TechniqueRow::RefusedBy(Route route) const {
  return std::find(refused_by.begin(), refused_by.begin() + refusals, route) != refused_by.begin() + refusals;
}

std::span<const TechniqueRow> TechniqueTable() { return kTechniques; }

Techniques TechniquesOf(std::span<const LayerSpec> layers, int64_t members, const StepOptions& options) {
  Techniques used;
  used.Add(Technique::kLowPrecision, LosesDigits(options.precision));
  used.Add(Technique::kClipping, options.clip_norm > 0);
  used.Add(Technique::kFrozen, !options.frozen.empty());
  used.Add(Technique::kRates, !options.RatesOf(layers).empty());
  used.Add(Technique::kTrainedRadius, std::ranges::any_of(layers, &LayerSpec::trained_radius));
  used.Add(Technique::kResidual, std::ranges::any_of(layers, [](const LayerSpec& l) { return l.residual > 0; }));
  used.Add(Technique::kDropout, options.dropout > 0);
  used.Add(Technique::kMixup, options.mixup > 0);
  used.Add(Technique::kNormalization, options.normalization != Normalization::kNone);
  used.Add(Technique::kFrontScale, options.front_scale > 0);
  used.Add(Technique::kMembers, members > 1);
  used.Add(Technique::kEmbedding, options.embedding_layers > 0);
  return used;
}

const TechniqueRow* FirstRefused(Route route, const Techniques& used) {
  const auto* const row = std::ranges::find_if(
      kTechniques, [&](const TechniqueRow& row) { return used.Has(row.technique) && row.RefusedBy(route); });
  return row == std::end(kTechniques) ? nullptr : row;
}

Verdict Accepts(Route route, const Techniques& used) {
  const TechniqueRow* const refused = FirstRefused(route, used);
  if (refused == nullptr) {
    return Verdict::Yes();
  }
  const std::string_view subject = std::ranges::find(kRoutes, route, &RouteRow::route)->subject;
  return Verdict::No(fmt::format("{} cannot be combined with {}", subject, refused->words));
}

std::string RefusalsText(std::string_view setting) {
  const auto* const row = std::ranges::find_if(kTechniques, [&](const TechniqueRow& row) {
    return std::ranges::find(row.settings, setting) != row.settings.end();
  });
  std::vector<std::string_view> asked_by;
  for (const RouteRow& route : kRoutes) {
    if (row != std::end(kTechniques) && row->RefusedBy(route.route) && !route.asked_by.empty()) {
      asked_by.push_back(route.asked_by);
    }
  }
  if (asked_by.empty()) {
    return "";
  }
  const std::string_view last = asked_by.back();
  asked_by.pop_back();
  return asked_by.empty() ? fmt::format("; not {}", last)
                          : fmt::format("; not {} or {}", fmt::join(asked_by, ", "), last);
}

}  // namespace lamina
