// What a backend answers that has no trained radii.
#include "lamina/backend/backend.h"

#include <fmt/format.h>

#include "lamina/base/check.h"

namespace lamina {

Verdict Backend::SupportsTrainedRadius() const {
  return Verdict::No(fmt::format("backend {} does not train radii", name()));
}

void Backend::RadiusForward(const RadiusForwardArgs&) const noexcept {
  Check(false, "SupportsTrainedRadius() says no");
}

void Backend::RadiusBackward(const RadiusBackwardArgs&) const noexcept {
  Check(false, "SupportsTrainedRadius() says no");
}

}  // namespace lamina
