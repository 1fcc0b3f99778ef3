// NCCL by dlopen. It has no header in the CUDA toolkit: what is used of its binary interface, the same since version
// 2.7, is declared here.
#include "lamina/backend/cuda/nccl.h"

#include <fmt/format.h>

#include <cstring>

#include "lamina/base/opened_library.h"

namespace lamina::cuda {
namespace {

struct UniqueId {
  char internal[128];
};
using Comm = void*;
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kInProgress = 7;
constexpr int kBytes = 1;  // ncclUint8

// The functions that are used.
struct Nccl {
  Result (*version)(int*) = nullptr;
  Result (*unique_id)(UniqueId*) = nullptr;
  Result (*init_rank)(Comm*, int, UniqueId, int) = nullptr;
  Result (*destroy)(Comm) = nullptr;
  Result (*abort)(Comm) = nullptr;
  Result (*async_error)(Comm, Result*) = nullptr;
  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*send)(const void*, size_t, int, int, Comm, cudaStream_t) = nullptr;
  Result (*receive)(void*, size_t, int, int, Comm, cudaStream_t) = nullptr;
  const char* (*error_text)(Result) = nullptr;
  std::string reason;  // why it is not usable
};

Nccl LoadNccl() {
  Nccl nccl;
  OpenedLibrary library("libnccl.so.2");
  library.Find(nccl.version, "ncclGetVersion");
  library.Find(nccl.unique_id, "ncclGetUniqueId");
  library.Find(nccl.init_rank, "ncclCommInitRank");
  library.Find(nccl.destroy, "ncclCommDestroy");
  library.Find(nccl.abort, "ncclCommAbort");
  library.Find(nccl.async_error, "ncclCommGetAsyncError");
  library.Find(nccl.group_start, "ncclGroupStart");
  library.Find(nccl.group_end, "ncclGroupEnd");
  library.Find(nccl.send, "ncclSend");
  library.Find(nccl.receive, "ncclRecv");
  library.Find(nccl.error_text, "ncclGetErrorString");
  nccl.reason = library.reason();
  return nccl;
}

const Nccl& TheNccl() {
  static const Nccl nccl = LoadNccl();
  return nccl;
}

void RequireNccl(Result result, std::string_view what) {
  if (result != kSuccess) {
    throw Error(ErrorCode::kUnsupported, fmt::format("NCCL: {} failed: {}", what, TheNccl().error_text(result)),
                {.remedy = "NCCL_DEBUG=INFO says more; LD_LIBRARY_PATH without NCCL exchanges through the hosts."});
  }
}

}  // namespace

Verdict NcclAvailable() {
  const std::string& reason = TheNccl().reason;
  return reason.empty() ? Verdict::Yes() : Verdict::No(reason);
}

std::string NcclVersion() {
  int version = 0;
  if (!NcclAvailable() || TheNccl().version(&version) != kSuccess) {
    return "";
  }
  return version < 10000 ? fmt::format("{}.{}.{}", version / 1000, version % 1000 / 100, version % 100)
                         : fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

std::string MakeNcclId() {
  UniqueId id;
  RequireNccl(TheNccl().unique_id(&id), "making an id");
  return {id.internal, sizeof(id.internal)};
}

struct NcclRank::State {
  Device& device;
  RankMeeting meeting;
  Comm comm = nullptr;
  bool aborted = false;

  // While somebody waits for the device: an exchange that another rank does not come to would be waited for, for ever.
  void Watch(double waited_seconds) {
    if (aborted) {
      return;
    }
    Result failed = kSuccess;
    TheNccl().async_error(comm, &failed);
    const bool silent = waited_seconds > meeting.patience_seconds;
    if (!silent && (failed == kSuccess || failed == kInProgress)) {
      return;
    }
    aborted = true;
    TheNccl().abort(comm);
    if (silent) {
      ThrowSilentGpus(meeting);
    }
    throw Error(ErrorCode::kIo, fmt::format("NCCL: an exchange failed: {}", TheNccl().error_text(failed)));
  }
};

NcclRank::NcclRank(Device& device, const std::string& id, const RankMeeting& meeting)
    : state_(std::make_unique<State>(State{device, meeting})) {
  UniqueId shared;
  std::memcpy(shared.internal, id.data(), sizeof(shared.internal));
  device.Use();
  RequireNccl(TheNccl().init_rank(&state_->comm, meeting.size, shared, meeting.rank), "joining the ranks");
  device.SetWatch([state = state_.get()](double waited_seconds) { state->Watch(waited_seconds); });
}

NcclRank::~NcclRank() {
  state_->device.SetWatch(nullptr);
  if (!state_->aborted) {
    TheNccl().destroy(state_->comm);
  }
}

void NcclRank::SendAndReceive(std::span<const SentPart> to, std::span<const ReceivedPart> from) noexcept {
  auto* const stream = static_cast<cudaStream_t>(state_->device.stream());
  state_->device.Use();
  Result result = TheNccl().group_start();
  const auto ask = [&](Result asked) { result = result == kSuccess ? asked : result; };
  for (size_t r = 0; r < to.size(); ++r) {
    const auto other = static_cast<int>(r);
    if (other == state_->meeting.rank) {
      continue;
    }
    if (to[r].size_bytes > 0) {
      ask(TheNccl().send(to[r].data, static_cast<size_t>(to[r].size_bytes), kBytes, other, state_->comm, stream));
    }
    if (from[r].size_bytes > 0) {
      ask(TheNccl().receive(from[r].data, static_cast<size_t>(from[r].size_bytes), kBytes, other, state_->comm,
                            stream));
    }
  }
  ask(TheNccl().group_end());
  if (result != kSuccess) {
    state_->device.KeepError(fmt::format("NCCL: an exchange failed: {}", TheNccl().error_text(result)));
  }
}

}  // namespace lamina::cuda
