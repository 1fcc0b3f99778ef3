// An exchange between threads: everybody shows what it sends, copies what it gets, and waits until all have copied.
#include "lamina/cluster/thread_ranks.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "lamina/base/check.h"
#include "lamina/base/error.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds kLook{0.02};  // how often a rank that waits looks whether it should

struct Meeting {
  explicit Meeting(int count) : size(count), shown(static_cast<size_t>(count)), arrived(static_cast<size_t>(count)) {}

  int size;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::span<const SentPart>> shown;
  std::vector<int64_t> arrived;  // how often each rank came to a meeting
  int failed = 0;
  bool aborted = false;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank, double patience_seconds) : meeting_(meeting), own_(static_cast<size_t>(rank)) {
    set_patience_seconds(patience_seconds);
    Introduce(rank, meeting.size, HostName());
  }

  std::string Describe() const override { return "threads"; }
  bool AnyThread() const override { return true; }

  bool AllFailed(double seconds) noexcept override {
    std::unique_lock lock(meeting_.mutex);
    ++meeting_.failed;
    meeting_.changed.notify_all();
    return meeting_.changed.wait_for(lock, Seconds(seconds), [&] { return meeting_.failed == meeting_.size; });
  }

  void Abort(int) noexcept override {
    const std::lock_guard lock(meeting_.mutex);
    meeting_.aborted = true;
    meeting_.changed.notify_all();
  }

 protected:
  void Exchange(std::span<const SentPart> to, std::span<const ReceivedPart> from) override {
    meeting_.shown[own_] = to;
    Meet();
    for (size_t r = 0; r < from.size(); ++r) {
      const SentPart& part = meeting_.shown[r][own_];
      Check(part.size_bytes == from[r].size_bytes, "both sides give the same sizes");
      if (part.size_bytes > 0 && part.data != from[r].data) {
        std::memcpy(from[r].data, part.data, static_cast<size_t>(part.size_bytes));
      }
    }
    Meet();
  }

 private:
  void Meet() {
    std::unique_lock lock(meeting_.mutex);
    const int64_t mine = ++meeting_.arrived[own_];
    meeting_.changed.notify_all();
    const auto absent = [&] {
      for (size_t r = 0; r < meeting_.arrived.size(); ++r) {
        if (meeting_.arrived[r] < mine) {
          return static_cast<int>(r);
        }
      }
      return -1;
    };
    const Stopwatch watch;
    while (!meeting_.changed.wait_for(lock, kLook, [&] { return meeting_.aborted || absent() < 0; })) {
      ThrowIfCancelled();
      if (watch.Elapsed_seconds() > patience_seconds()) {
        ThrowSilent(absent());
      }
    }
    if (meeting_.aborted) {
      throw Error(ErrorCode::kIo, "another rank ended the job");
    }
  }

  Meeting& meeting_;
  size_t own_;
};

}  // namespace

void RunRanks(int size, const std::function<void(Communicator&)>& work, double patience_seconds) {
  Meeting meeting(size);
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      try {
        ThreadRank rank(meeting, r, patience_seconds);
        work(rank);
      } catch (...) {
        const std::lock_guard lock(meeting.mutex);
        failure = meeting.aborted ? failure : std::current_exception();
        meeting.aborted = true;
        meeting.changed.notify_all();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

}  // namespace lamina
