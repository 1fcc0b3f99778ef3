// Device without a GPU: memory of the host, kernels on fibers, everything done at once.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "lamina/backend/cuda/device.h"

namespace lamina::cuda_emulated {

struct Device::State {
  std::vector<std::function<void()>>* recording = nullptr;
  std::string kept;
};

Verdict DeviceAvailable() { return Verdict::Yes(); }

Device::Device() : state_(std::make_unique<State>()) {
  // Two multiprocessors, so that small products are split and large ones are not.
  facts_ = {"emulated GPU", 8, 0, 2, int64_t{1} << 30, 160 * 1024, 1 << 20, "0.0"};
}
Device::~Device() = default;

int64_t Device::FreeMemory_bytes() const { return facts_.memory_bytes; }

void* Device::Allocate(int64_t size_bytes) {
  if (size_bytes <= 0) {
    return nullptr;
  }
  if (size_bytes > facts_.memory_bytes) {
    throw Error(ErrorCode::kResource, "the emulated GPU's memory is full");
  }
  return std::calloc(static_cast<size_t>(size_bytes + 255) / 256, 256);
}
void Device::Free(void* memory) noexcept { std::free(memory); }

void Device::Upload(void* to, const void* host, int64_t size_bytes) {
  ThrowKept();
  if (size_bytes > 0) {
    std::memcpy(to, host, static_cast<size_t>(size_bytes));
  }
}
void Device::Download(void* host, const void* from, int64_t size_bytes) { Upload(host, from, size_bytes); }
void Device::Synchronize() { ThrowKept(); }

void Device::Enqueue(std::function<void()> work) noexcept {
  if (state_->recording != nullptr) {
    state_->recording->push_back(std::move(work));
  } else {
    work();
  }
}

namespace {

class ListRecording final : public Device::Recording {
 public:
  explicit ListRecording(std::vector<std::function<void()>> list) : list_(std::move(list)) {}
  void Run() noexcept override {
    for (const auto& work : list_) {
      work();
    }
  }

 private:
  std::vector<std::function<void()>> list_;
};

}  // namespace

std::unique_ptr<Device::Recording> Device::Record(const std::function<void()>& work) {
  std::vector<std::function<void()>> list;
  state_->recording = &list;
  work();
  state_->recording = nullptr;
  return std::make_unique<ListRecording>(std::move(list));
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
