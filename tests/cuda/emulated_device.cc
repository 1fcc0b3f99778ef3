// Device without a GPU: memory of the host, kernels on fibers, queues whose order is only what was asked for.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/recordings.h"
#include "tests/cuda/emulated_backend.h"
#include "tests/cuda/emulated_joint.h"
#include "tests/cuda/emulated_queues.h"

namespace lamina::cuda_emulated {
namespace {

int64_t memory_of_new_bytes = kEmulatedMemory_bytes;
int compute_of_new = kEmulatedCompute;
std::atomic<int64_t> launches_together = 0;

// Limits of a launch (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
constexpr int kMostThreads = 1024;
constexpr unsigned kMostRowsOfGrid = 65535;
constexpr unsigned kMostOfCluster = 8;
constexpr int64_t kHopperShared_bytes = 227 * 1024;  // of compute capability 9.0; others may have 99 KiB

}  // namespace

void SetEmulatedMemory(int64_t size_bytes) { memory_of_new_bytes = size_bytes; }
void SetEmulatedCompute(int major) { compute_of_new = major; }
void SetLateQueues(unsigned lanes) { Queues::SetLate(lanes); }
int64_t LaunchesTogether() { return launches_together; }

struct Device::State {
  std::vector<std::function<void()>>* recording = nullptr;
  std::string kept;
  std::map<void*, int64_t> allocated;
  int64_t free_bytes = 0;
  Queues queues;
};

Verdict DeviceAvailable() { return Verdict::Yes(); }

Device::Device(int number) : number_(number % kEmulatedGpus), state_(std::make_unique<State>()) {
  // With three multiprocessors small products are split and large ones are not, and groups of blocks differ in size.
  // The L2 cache is too small for the library's products of some tests.
  facts_ = {"emulated GPU",
            compute_of_new,
            0,
            3,
            memory_of_new_bytes,
            99 * 1024,
            48 * 1024,
            "0.0",
            fmt::format("number {}", number_)};
  state_->free_bytes = memory_of_new_bytes + kScratch_bytes;
  scratch_ = Allocate(kScratch_bytes);
}
Device::~Device() { Free(scratch_); }

int64_t Device::FreeMemory_bytes() const { return state_->free_bytes; }

void* Device::Allocate(int64_t size_bytes) {
  if (size_bytes <= 0) {
    return nullptr;
  }
  if (size_bytes > state_->free_bytes) {
    throw Error(ErrorCode::kResource, fmt::format("the emulated GPU's memory is full: {} bytes needed, {} free",
                                                  size_bytes, state_->free_bytes));
  }
  void* memory = std::calloc(static_cast<size_t>(size_bytes + 255) / 256, 256);
  state_->allocated[memory] = size_bytes;
  state_->free_bytes -= size_bytes;
  return memory;
}
void Device::Free(void* memory) noexcept {
  state_->queues.RunAll(kWork);
  if (const auto known = state_->allocated.find(memory); known != state_->allocated.end()) {
    state_->free_bytes += known->second;
    state_->allocated.erase(known);
  }
  std::free(memory);
}

void Device::Upload(void* to, const void* host, int64_t size_bytes) {
  Synchronize();
  if (size_bytes > 0) {
    std::memcpy(to, host, static_cast<size_t>(size_bytes));
  }
}
void Device::Download(void* host, const void* from, int64_t size_bytes) { Upload(host, from, size_bytes); }
void Device::Copy(void* to, const void* from, int64_t size_bytes) noexcept {
  if (size_bytes > 0 && to != from) {
    Enqueue([=] { std::memcpy(to, from, static_cast<size_t>(size_bytes)); });
  }
}
void Device::Synchronize() {
  state_->queues.RunAll(kWork);
  if (watch_) {
    watch_(0);
  }
  ThrowKept();
}
void Device::Use() const noexcept {}

void Device::AwaitOthers() { Synchronize(); }

Verdict Device::AskTogether(const void*, int blocks, int threads, int64_t shared_bytes) noexcept {
  if (blocks > facts_.multiprocessors || threads > kMostThreads || shared_bytes > facts_.shared_bytes) {
    return Verdict::No(fmt::format("{} blocks of {} KiB that wait for each other", blocks, shared_bytes / 1024));
  }
  return Verdict::Yes();
}

bool Device::Takes(const char* name, const LaunchShape& shape) noexcept {
  const dim3& grid = shape.grid;
  const bool hopper = facts_.compute_major == 9;
  const int64_t most_bytes = !shape.together && hopper ? kHopperShared_bytes : facts_.shared_bytes;
  if (shape.threads > kMostThreads || grid.y > kMostRowsOfGrid || shape.shared_bytes > most_bytes ||
      (shape.together && static_cast<int>(grid.x) > facts_.multiprocessors)) {
    KeepError(fmt::format("kernel {} failed: {} x {} blocks of {} threads and {} bytes of shared memory", name, grid.x,
                          grid.y, shape.threads, shape.shared_bytes));
    return false;
  }
  if (shape.cluster > 0 && (!hopper || shape.cluster > kMostOfCluster || grid.x % shape.cluster != 0 || grid.y != 1)) {
    KeepError(fmt::format("kernel {} failed: {} blocks in clusters of {}", name, grid.x, shape.cluster));
    return false;
  }
  return true;
}

void Device::Enqueue(std::function<void()> work) noexcept {
  if (state_->recording != nullptr) {
    state_->recording->push_back(std::move(work));
  } else {
    state_->queues.Ask(kWork, std::move(work));
  }
}

namespace {

class ListRecording final : public Device::Recording {
 public:
  ListRecording(Queues& queues, std::vector<std::function<void()>> list) : queues_(queues), list_(std::move(list)) {}
  void Run() noexcept override {
    for (size_t i = 0; i < list_.size(); ++i) {
      RunPart(i);
    }
  }
  size_t size() const { return list_.size(); }
  void RunPart(size_t i) noexcept { queues_.Ask(kWork, list_[i]); }

 private:
  Queues& queues_;
  std::vector<std::function<void()>> list_;
};

// Branches a piece of each in turn, so that one that needs another one's memory or order goes wrong.
class ListsTogether final : public Device::Recording {
 public:
  explicit ListsTogether(const std::vector<Recorded>& branches) {
    for (const Recorded& branch : branches) {
      lists_.push_back(static_cast<ListRecording*>(branch.work));
      longest_ = std::max(longest_, lists_.back()->size());
    }
  }
  void Run() noexcept override {
    ++launches_together;
    for (size_t i = 0; i < longest_; ++i) {
      for (ListRecording* list : lists_) {
        if (i < list->size()) {
          list->RunPart(i);
        }
      }
    }
  }

 private:
  std::vector<ListRecording*> lists_;
  size_t longest_ = 0;
};

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(int64_t size_bytes) : memory_(static_cast<size_t>(size_bytes)) {}
  void* data() const override { return const_cast<std::byte*>(memory_.data()); }
  int64_t size_bytes() const override { return static_cast<int64_t>(memory_.size()); }

 private:
  std::vector<std::byte> memory_;
};

class EmulatedCopyStreams final : public CopyStreams {
 public:
  explicit EmulatedCopyStreams(Queues& queues) : queues_(queues) {}
  ~EmulatedCopyStreams() override {
    queues_.RunAll(kUploads);
    queues_.RunAll(kDownloads);
  }
  std::unique_ptr<Buffer> AllocatePinned(int64_t size_bytes) const override {
    return std::make_unique<HostBuffer>(size_bytes);
  }
  int64_t StartUpload(void* to, const void* pinned, int64_t size_bytes) override {
    return Copy(kUploads, to, pinned, size_bytes);
  }
  int64_t StartDownload(void* pinned, const void* from, int64_t size_bytes) override {
    return Copy(kDownloads, pinned, from, size_bytes);
  }
  void WaitForUpload(int64_t copy) override { queues_.RunUntil(kUploads, copy); }
  void WaitForDownload(int64_t copy) override { queues_.RunUntil(kDownloads, copy); }
  void WorkAfterUploads() override { queues_.Order(kUploads, kWork); }
  void DownloadsAfterWork() override { queues_.Order(kWork, kDownloads); }

 private:
  int64_t Copy(Lane lane, void* to, const void* from, int64_t size_bytes) {
    return queues_.Ask(lane, [=] {
      if (size_bytes > 0) {
        std::memcpy(to, from, static_cast<size_t>(size_bytes));
      }
    });
  }
  Queues& queues_;
};

}  // namespace

std::unique_ptr<Device::Recording> Together(const std::vector<Recorded>& branches) {
  return std::make_unique<ListsTogether>(branches);
}

std::unique_ptr<CopyStreams> Device::MakeCopyStreams() { return std::make_unique<EmulatedCopyStreams>(state_->queues); }

std::unique_ptr<Device::Recording> Device::Record(const std::function<void()>& work) {
  std::vector<std::function<void()>> list;
  state_->recording = &list;
  work();
  state_->recording = nullptr;
  return std::make_unique<ListRecording>(state_->queues, std::move(list));
}

void Device::KeepError(const std::string& what) noexcept {
  if (state_->kept.empty()) {
    state_->kept = what;
  }
}

void Device::ThrowKept() {
  if (!state_->kept.empty()) {
    throw Error(ErrorCode::kUnsupported, "CUDA: " + std::exchange(state_->kept, {}));
  }
}

void* Device::stream() const { return nullptr; }

}  // namespace lamina::cuda_emulated
