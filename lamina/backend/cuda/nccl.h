// NCCL, NVIDIA's library for exchanges between GPUs, opened at run time: one host or several, over what joins them
// (NVLink, PCIe, InfiniBand, TCP).
#pragma once

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/device_exchange.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Whether libnccl.so.2 is there; the reason otherwise.
Verdict NcclAvailable();
/// "2.27.3"; "" where it is not available.
std::string NcclVersion();
/// What the ranks of one job share; made by one of them. Throws Error(kUnsupported) with NCCL's reason.
std::string MakeNcclId();

/// Throws Error(kIo): other ranks have not come to an exchange.
[[noreturn]] inline void ThrowSilentGpus(const RankMeeting& meeting) {
  const std::string place = meeting.place();
  throw Error(ErrorCode::kIo, fmt::format("the GPUs of other ranks have not answered rank {} for {:g} s{}{}",
                                          meeting.rank, meeting.patience_seconds, place.empty() ? "" : ", ", place));
}

/// One rank. `device` outlives it.
class NcclRank {
 public:
  /// Collective, `id` as one of the ranks made it. Throws Error(kUnsupported) with NCCL's reason.
  NcclRank(Device& device, const std::string& id, const RankMeeting& meeting);
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  /// to[r] goes to rank r and from[r] comes from it, except for this rank itself, in the order of the device's work.
  /// The device keeps failures and throws them; waiting for the device ends after the patience.
  void SendAndReceive(std::span<const SentPart> to, std::span<const ReceivedPart> from) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
