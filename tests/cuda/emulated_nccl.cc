// A stand-in for NCCL between the emulated GPUs of threads of this process.
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "lamina/backend/cuda/nccl.h"
#include "tests/cuda/emulated_backend.h"

namespace lamina::cuda_emulated {
namespace {

// Where parts wait for the rank that they were sent to.
struct MailRoom {
  std::mutex mutex;
  std::condition_variable came;
  std::map<std::pair<int, int>, std::deque<std::string>> parts;  // by sender and receiver
};

struct EmulatedNccl {
  std::mutex mutex;
  bool available = true;
  std::string version = "emulated";
  int rooms_made = 0;
  std::map<std::string, std::shared_ptr<MailRoom>> rooms;
};

EmulatedNccl& TheNccl() {
  static EmulatedNccl nccl;
  return nccl;
}

}  // namespace

void SetEmulatedNccl(bool available, const std::string& version) {
  TheNccl().available = available;
  TheNccl().version = version;
}

Verdict NcclAvailable() { return TheNccl().available ? Verdict::Yes() : Verdict::No("it is not emulated"); }
std::string NcclVersion() { return TheNccl().available ? TheNccl().version : ""; }

std::string MakeNcclId() {
  const std::lock_guard lock(TheNccl().mutex);
  const std::string id = fmt::format("room {}", ++TheNccl().rooms_made);
  TheNccl().rooms[id] = std::make_shared<MailRoom>();
  return id;
}

struct NcclRank::State {
  Device& device;
  RankMeeting meeting;
  std::shared_ptr<MailRoom> room;
  bool silent = false;
};

NcclRank::NcclRank(Device& device, const std::string& id, const RankMeeting& meeting)
    : state_(std::make_unique<State>(State{device, meeting, nullptr})) {
  const std::lock_guard lock(TheNccl().mutex);
  state_->room = TheNccl().rooms.at(id);
  device.SetWatch([state = state_.get()](double) {
    if (state->silent) {
      ThrowSilentGpus(state->meeting);
    }
  });
}
NcclRank::~NcclRank() { state_->device.SetWatch(nullptr); }

void NcclRank::SendAndReceive(std::span<const SentPart> to, std::span<const ReceivedPart> from) noexcept {
  state_->device.Enqueue([state = state_.get(), to = std::vector(to.begin(), to.end()),
                          from = std::vector(from.begin(), from.end())] {
    if (state->silent) {
      return;
    }
    const int rank = state->meeting.rank;
    MailRoom& room = *state->room;
    std::unique_lock lock(room.mutex);
    for (int r = 0; r < state->meeting.size; ++r) {
      const SentPart& part = to[static_cast<size_t>(r)];
      if (r != rank && part.size_bytes > 0) {
        room.parts[{rank, r}].emplace_back(static_cast<const char*>(part.data), static_cast<size_t>(part.size_bytes));
      }
    }
    room.came.notify_all();
    for (int r = 0; r < state->meeting.size; ++r) {
      const ReceivedPart& part = from[static_cast<size_t>(r)];
      if (r == rank || part.size_bytes == 0) {
        continue;
      }
      std::deque<std::string>& waiting = room.parts[{r, rank}];
      if (!room.came.wait_for(lock, std::chrono::duration<double>(state->meeting.patience_seconds),
                              [&] { return !waiting.empty(); })) {
        state->silent = true;
        return;
      }
      if (std::ssize(waiting.front()) != part.size_bytes) {
        state->device.KeepError("a part of another size than was asked for");
      } else {
        std::memcpy(part.data, waiting.front().data(), waiting.front().size());
      }
      waiting.pop_front();
    }
  });
}

}  // namespace lamina::cuda_emulated
