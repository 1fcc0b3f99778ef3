// What a backend answers that has no trained radii, no normalised layers, no steps of whole networks and no memory of
// its own.
#include "lamina/backend/backend.h"

#include <fmt/format.h>

#include "lamina/backend/array_math.h"
#include "lamina/backend/copy_streams.h"
#include "lamina/backend/device_exchange.h"
#include "lamina/backend/training_steps.h"
#include "lamina/base/check.h"

namespace lamina {

std::unique_ptr<PreparedNetwork> Backend::PrepareNetwork(const NetworkPlanRequest&, Verdict* why) const {
  *why = Verdict::No(fmt::format("backend {} computes every network layer by layer", name()));
  return nullptr;
}

std::unique_ptr<RecordedSteps> Backend::MakeRecordedSteps() const { return nullptr; }

std::unique_ptr<CopyStreams> Backend::MakeCopyStreams() const { return nullptr; }

std::unique_ptr<ArrayMath> Backend::MakeArrayMath() const { return std::make_unique<HostArrayMath>(threads()); }

std::unique_ptr<DeviceExchange> Backend::JoinRanks(const RankMeeting&, Verdict* why) const {
  *why = Verdict::No(fmt::format("backend {} computes in host memory", name()));
  return nullptr;
}

Verdict Backend::SupportsTrainedRadius() const {
  return Verdict::No(fmt::format("backend {} does not train radii", name()));
}

void Backend::RadiusForward(const RadiusForwardArgs&) const noexcept {
  Check(false, "SupportsTrainedRadius() says no");
}

void Backend::RadiusBackward(const RadiusBackwardArgs&) const noexcept {
  Check(false, "SupportsTrainedRadius() says no");
}

void Backend::NormalizeForward(const NormalizeForwardArgs&) const noexcept {
  Check(false, "normalised layers are in host memory");
}

void Backend::NormalizeBackward(const NormalizeBackwardArgs&) const noexcept {
  Check(false, "normalised layers are in host memory");
}

}  // namespace lamina
