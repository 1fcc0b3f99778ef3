// A stream for each direction beside the device's own, ordered by events.
#include "lamina/backend/copy_streams.h"

#include <algorithm>
#include <array>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/runtime_call.h"

namespace lamina::cuda {
namespace {

class PinnedBuffer final : public Buffer {
 public:
  PinnedBuffer(const Device& device, int64_t size_bytes) : size_bytes_(size_bytes) {
    if (size_bytes == 0) {
      return;
    }
    device.Use();
    if (cudaMallocHost(&data_, static_cast<size_t>(size_bytes)) != cudaSuccess) {
      cudaGetLastError();  // not sticky
      throw Error(ErrorCode::kResource,
                  fmt::format("{:.1f} MB of host memory could not be pinned for copies to the GPU",
                              static_cast<double>(size_bytes) / 1e6),
                  {.remedy = "Free host memory, or use --backend cpu."});
    }
  }
  ~PinnedBuffer() override { cudaFreeHost(data_); }
  void* data() const override { return data_; }
  int64_t size_bytes() const override { return size_bytes_; }

 private:
  void* data_ = nullptr;
  int64_t size_bytes_;
};

// One direction. The copies asked for last have an event each; an older copy is done when the oldest of these is.
class Queue {
 public:
  Queue() {
    Require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream of copies");
    for (cudaEvent_t& event : events_) {
      Require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync), "making an event");
    }
  }
  ~Queue() {
    cudaStreamSynchronize(stream_);
    for (cudaEvent_t event : events_) {
      cudaEventDestroy(event);
    }
    cudaStreamDestroy(stream_);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  int64_t Copy(void* to, const void* from, int64_t size_bytes, cudaMemcpyKind kind) {
    if (size_bytes > 0) {
      Require(cudaMemcpyAsync(to, from, static_cast<size_t>(size_bytes), kind, stream_),
              kind == cudaMemcpyHostToDevice ? "a copy to the GPU" : "a copy from the GPU");
    }
    Require(cudaEventRecord(EventOf(++asked_), stream_), "marking a copy");
    return asked_;
  }
  void Wait(int64_t copy) {
    if (copy > 0) {
      Require(cudaEventSynchronize(EventOf(std::max(copy, asked_ - kEvents + 1))), "copies beside work on the GPU");
    }
  }
  cudaStream_t stream() const { return stream_; }

 private:
  static constexpr int64_t kEvents = 8;
  cudaEvent_t& EventOf(int64_t copy) { return events_[static_cast<size_t>(copy % kEvents)]; }

  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, kEvents> events_{};
  int64_t asked_ = 0;
};

// Any thread may ask for copies, with whatever GPU as its own: each call chooses this one.
class CudaCopyStreams final : public CopyStreams {
 public:
  explicit CudaCopyStreams(const Device& device) : device_(device), work_(static_cast<cudaStream_t>(device.stream())) {
    Require(cudaEventCreateWithFlags(&order_, cudaEventDisableTiming), "making an event");
  }
  ~CudaCopyStreams() override {
    device_.Use();  // for the queues, too
    cudaEventDestroy(order_);
  }
  CudaCopyStreams(const CudaCopyStreams&) = delete;
  CudaCopyStreams& operator=(const CudaCopyStreams&) = delete;

  std::unique_ptr<Buffer> AllocatePinned(int64_t size_bytes) const override {
    return std::make_unique<PinnedBuffer>(device_, size_bytes);
  }
  int64_t StartUpload(void* to, const void* pinned, int64_t size_bytes) override {
    device_.Use();
    return uploads_.Copy(to, pinned, size_bytes, cudaMemcpyHostToDevice);
  }
  int64_t StartDownload(void* pinned, const void* from, int64_t size_bytes) override {
    device_.Use();
    return downloads_.Copy(pinned, from, size_bytes, cudaMemcpyDeviceToHost);
  }
  void WaitForUpload(int64_t copy) override {
    device_.Use();
    uploads_.Wait(copy);
  }
  void WaitForDownload(int64_t copy) override {
    device_.Use();
    downloads_.Wait(copy);
  }
  void WorkAfterUploads() override { Order(uploads_.stream(), work_); }
  void DownloadsAfterWork() override { Order(work_, downloads_.stream()); }

 private:
  void Order(cudaStream_t earlier, cudaStream_t later) {
    device_.Use();
    Require(cudaEventRecord(order_, earlier), "ordering copies and work");
    Require(cudaStreamWaitEvent(later, order_, 0), "ordering copies and work");
  }

  const Device& device_;
  cudaStream_t work_;
  cudaEvent_t order_ = nullptr;
  Queue uploads_;
  Queue downloads_;
};

}  // namespace

std::unique_ptr<CopyStreams> Device::MakeCopyStreams() {
  Use();
  return std::make_unique<CudaCopyStreams>(*this);
}

}  // namespace lamina::cuda
