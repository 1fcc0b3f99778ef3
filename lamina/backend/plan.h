// How a pass of a layer is computed, where a backend leaves a choice; found by tune/, stored as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lamina/neuron/problem.h"

namespace lamina {

/// Every field may be left to the backend's own estimate (empty or 0). A plan changes speed and the order of sums,
/// never what is computed. A backend takes what it can of a plan and ignores the rest.
struct Plan {
  std::string kernel;        // of backend cpu: "tile", "dots" (few samples or outputs), "amx"
  int64_t tile_rows = 0;     // register tile: broadcast values ...
  int64_t tile_vectors = 0;  // ... by vectors
  int64_t depth = 0;         // longest sum computed in one go, in elements
  int64_t cache_bytes = 0;   // packed columns kept in the second-level cache while rows stream past
  int64_t threads = 0;
  double asymmetry = 0;  // As of slices of this size (layer/slices.h): samples M As, neurons M / As

  /// "kernel=tile tile=8x3 depth=1024 cache=524288 threads=2", without what is left open; "estimate" if all is.
  std::string Text() const;
  /// Throws Error(kInvalidArgument) naming the wrong word.
  static Plan Parse(std::string_view text);
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Where a backend asks for plans while it prepares a layer. Thread-safe.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual Plan PlanFor(const Problem& problem) const = 0;
};

}  // namespace lamina
