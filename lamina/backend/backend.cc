// What a backend answers that has no steps of whole networks and no memory of its own.
#include "lamina/backend/backend.h"

#include <fmt/format.h>

#include "lamina/backend/array_math.h"
#include "lamina/backend/copy_streams.h"
#include "lamina/backend/device_exchange.h"
#include "lamina/backend/training_steps.h"

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

}  // namespace lamina
