// One GPU: its facts, memory, one stream of work, launches, and recording of work that is run many times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lamina/backend/copy_streams.h"
#include "lamina/backend/cuda/language.h"
#include "lamina/base/error.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

struct LiveStep;

/// Unknown numbers are 0.
struct DeviceFacts {
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int64_t memory_bytes = 0;
  int64_t shared_bytes = 0;  // that a block can have
  int64_t l2_bytes = 0;
  std::string driver;  // "13.0"
  std::string id;      // of this GPU among all GPUs
};

/// Whether there is a GPU that can be used; the reason otherwise. Never throws.
Verdict DeviceAvailable();

/// One visible GPU. After construction only Allocate, the transfers and Synchronize throw. They also throw what
/// launches before them failed with, and name the kernel. LAMINA_CUDA_SYNC=1 waits after every launch, so that faults
/// inside a kernel have its name, too.
class Device {
 public:
  /// The visible GPU of this number, beyond the last one the first again. Throws Error(kUnsupported) with the reason of
  /// DeviceAvailable().
  explicit Device(int number = 0);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  int64_t FreeMemory_bytes() const;

  /// Zeroed when it returns. Throws Error(kResource) naming need and free memory.
  void* Allocate(int64_t size_bytes);
  void Free(void* memory) noexcept;
  /// Done when it returns, after all earlier work.
  void Upload(void* to, const void* host, int64_t size_bytes);
  void Download(void* host, const void* from, int64_t size_bytes);
  /// A copy inside the device, after all earlier work.
  void Copy(void* to, const void* from, int64_t size_bytes) noexcept;
  void Synchronize();
  /// `watch` is asked now and then, with the seconds so far, while somebody waits for the work, and may throw; null:
  /// nobody.
  void SetWatch(std::function<void(double waited_seconds)> watch) { watch_ = std::move(watch); }
  /// Makes this the calling thread's GPU, for libraries: calls of this class do so themselves.
  void Use() const noexcept;
  /// Waits for the work of other streams, too.
  void AwaitOthers();
  /// Copies beside the work of this device, which must outlive it.
  std::unique_ptr<CopyStreams> MakeCopyStreams();

  /// Runs `kernel` after all earlier work; `grid` without blocks is nothing to do.
  template <class... P, class... A>
  void Launch(const char* name, void (*kernel)(P...), dim3 grid, int threads, int64_t shared_bytes,
              const A&... args) noexcept {
    LaunchAs(name, kernel, {grid, threads, shared_bytes}, args...);
  }
  /// The same with all blocks of `grid` at once, which may wait for each other: at most a block a multiprocessor.
  template <class... P, class... A>
  void LaunchTogether(const char* name, void (*kernel)(P...), dim3 grid, int threads, int64_t shared_bytes,
                      const A&... args) noexcept {
    LaunchAs(name, kernel, {grid, threads, shared_bytes, /*together=*/true}, args...);
  }
  struct LaunchShape {
    dim3 grid;
    int threads;
    int64_t shared_bytes;
    bool together = false;
    unsigned cluster = 0;  // blocks after each other that run at once and see each other's shared memory (9.0)
  };
  template <class... P, class... A>
  void LaunchAs(const char* name, void (*kernel)(P...), const LaunchShape& shape, const A&... args) noexcept {
    if (shape.grid.x == 0 || shape.grid.y == 0) {
      return;
    }
#if defined(LAMINA_CUDA_EMULATED)
    if (!Takes(name, shape)) {
      return;
    }
    Enqueue([=] {
      const dim3 block{static_cast<unsigned>(shape.threads)};
      const auto body = [&] { kernel(args...); };
      if (shape.together) {
        emulator::LaunchTogether(name, shape.grid, block, shape.shared_bytes, body);
      } else if (shape.cluster > 0) {
        emulator::LaunchClusters(name, shape.grid, block, shape.shared_bytes, shape.cluster, body);
      } else {
        emulator::Launch(name, shape.grid, block, shape.shared_bytes, body);
      }
    });
#else
    std::tuple<P...> parameters(args...);
    std::apply(
        [&](P&... each) {
          void* pointers[] = {&each...};
          LaunchKernel(name, reinterpret_cast<const void*>(kernel), shape, pointers);
        },
        parameters);
#endif
  }

  /// Whether LaunchTogether() may be asked for so many blocks, or why not: shared memory, a driver or a service that
  /// refuses, fewer multiprocessors than blocks.
  template <class... P>
  Verdict MayLaunchTogether(void (*kernel)(P...), int blocks, int threads, int64_t shared_bytes) noexcept {
    return AskTogether(reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes);
  }

  /// The launches and copies inside `work` are recorded, not run; Run() then does all of them with one call. Throws
  /// Error where the device cannot.
  class Recording {
   public:
    virtual ~Recording() = default;
    virtual void Run() noexcept = 0;
  };
  std::unique_ptr<Recording> Record(const std::function<void()>& work);

  /// kScratch_bytes of memory that one launch leaves to the next.
  void* scratch() const { return scratch_; }
  static constexpr int64_t kScratch_bytes = 4096;
  /// Where a library keeps what it has once a device; given back before the device is.
  std::shared_ptr<void>& library() { return library_; }

  /// While set, launches read rows and rates of updates from there: those of recorded steps.
  void SetLive(const LiveStep* live) { live_ = live; }
  const LiveStep* live() const { return live_; }

#if defined(LAMINA_CUDA_EMULATED)
  /// Work for the stand-ins of libraries.
  void Enqueue(std::function<void()> work) noexcept;
#endif
  /// Keeps the first failure of an operation that must not throw; `what` names it.
  void KeepError(const std::string& what) noexcept;
  /// The stream, for libraries: cudaStream_t.
  void* stream() const;

 private:
  void LaunchKernel(const char* name, const void* kernel, const LaunchShape& shape, void** parameters) noexcept;
  Verdict AskTogether(const void* kernel, int blocks, int threads, int64_t shared_bytes) noexcept;
#if defined(LAMINA_CUDA_EMULATED)
  // What a launch of a GPU would be refused for is kept as its error.
  bool Takes(const char* name, const LaunchShape& shape) noexcept;
#endif
  void ThrowKept();

  struct State;
  int number_ = 0;
  DeviceFacts facts_;
  const LiveStep* live_ = nullptr;
  std::function<void(double)> watch_;
  void* scratch_ = nullptr;
  std::shared_ptr<void> library_;
  std::unique_ptr<State> state_;
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
