// The CUDA runtime behind Device.
#include "lamina/backend/cuda/device.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>

#include "lamina/backend/cuda/runtime_call.h"
#include "lamina/base/timing.h"

namespace lamina::cuda {
namespace {

constexpr int kOldestCompute = 80;  // asynchronous copies
constexpr int64_t kDefaultShared_bytes = 48 * 1024;
constexpr double kLooks_seconds = 0.002;  // before a watched wait sleeps

std::string VersionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// What `driver` is too old for. Each major version of CUDA has a first series of drivers that runs its programs (CUDA
// Compatibility, "Minor Version Compatibility").
std::string NewerDriver(int driver, int runtime) {
  switch (runtime / 1000) {
    case 12: return "driver 525 or newer";
    case 13:
      return std::string("driver 580 or newer") +
             (driver >= 12000 ? ", or lamina-cuda12 in the place of lamina-cuda (docs/install.md)" : "");
    default: return "a driver of CUDA " + VersionText(runtime);
  }
}

// Gives a thread back the GPU that it had.
struct ThreadsGpu {
  int number;
  ~ThreadsGpu() { cudaSetDevice(number); }
};

}  // namespace

Verdict DeviceAvailable() {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    return Verdict::No("no NVIDIA driver is installed");
  }
  cudaRuntimeGetVersion(&runtime);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    return Verdict::No(fmt::format("the NVIDIA driver supports CUDA {}, this lamina needs {} or newer: {}",
                                   VersionText(driver), VersionText(runtime), NewerDriver(driver, runtime)));
  }
  if (error != cudaSuccess && error != cudaErrorNoDevice) {
    return Verdict::No(fmt::format("CUDA: {} ({})", cudaGetErrorString(error), cudaGetErrorName(error)));
  }
  if (count == 0) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return Verdict::No(visible == nullptr ? std::string("the driver sees no GPU")
                                          : fmt::format("no GPU is visible: CUDA_VISIBLE_DEVICES is '{}'", visible));
  }
  int major = 0;
  int minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  if (10 * major + minor < kOldestCompute) {
    return Verdict::No(fmt::format("the GPU has compute capability {}.{}, lamina needs 8.0 or newer", major, minor));
  }
  return Verdict::Yes();
}

struct Device::State {
  cudaStream_t stream = nullptr;
  bool synchronous = false;
  std::string kept;                             // the first failure since the last throw
  std::map<const void*, int64_t> shared_bytes;  // that kernels are allowed, where it is more than the default
  cudaError_t AllowShared(const void* kernel, int64_t size_bytes) noexcept;
};

Device::Device(int number) : state_(std::make_unique<State>()) {
  if (const Verdict verdict = DeviceAvailable(); !verdict) {
    throw Error(ErrorCode::kUnsupported, "there is no usable GPU: " + verdict.reason);
  }
  int count = 1;
  Require(cudaGetDeviceCount(&count), "counting the GPUs");
  number_ = number % count;
  int before = 0;
  Require(cudaGetDevice(&before), "asking for the thread's GPU");
  const ThreadsGpu restored{before};
  cudaDeviceProp properties;
  Require(cudaSetDevice(number_), "choosing the GPU");
  Require(cudaGetDeviceProperties(&properties, number_), "asking for the GPU's properties");
  Require(cudaStreamCreateWithFlags(&state_->stream, cudaStreamNonBlocking), "making a stream");
  const char* synchronous = std::getenv("LAMINA_CUDA_SYNC");
  state_->synchronous = synchronous != nullptr && std::string_view(synchronous) == "1";
  int driver = 0;
  cudaDriverGetVersion(&driver);
  facts_ = {properties.name,
            properties.major,
            properties.minor,
            properties.multiProcessorCount,
            static_cast<int64_t>(properties.totalGlobalMem),
            static_cast<int64_t>(properties.sharedMemPerBlockOptin),
            properties.l2CacheSize,
            VersionText(driver),
            std::string(properties.uuid.bytes, sizeof(properties.uuid.bytes))};
  scratch_ = Allocate(kScratch_bytes);
}

Device::~Device() {
  library_.reset();
  Free(scratch_);
  Use();
  if (state_->stream != nullptr) {
    cudaStreamSynchronize(state_->stream);
    cudaStreamDestroy(state_->stream);
  }
}

// A stream is of one device, and takes work only from threads whose device that is. The thread may have chosen another
// one since (PyTorch, a second Device); where nothing changes it takes some tens of ns.
void Device::Use() const noexcept { cudaSetDevice(number_); }

int64_t Device::FreeMemory_bytes() const {
  Use();
  size_t free = 0;
  size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? static_cast<int64_t>(free) : 0;
}

void* Device::Allocate(int64_t size_bytes) {
  void* memory = nullptr;
  if (size_bytes <= 0) {
    return memory;
  }
  Use();
  const cudaError_t error = cudaMalloc(&memory, static_cast<size_t>(size_bytes));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky
    throw Error(ErrorCode::kResource,
                fmt::format("the GPU's memory is full: {:.1f} MB needed, {:.1f} MB free of {:.1f} MB",
                            static_cast<double>(size_bytes) / 1e6, static_cast<double>(FreeMemory_bytes()) / 1e6,
                            static_cast<double>(facts_.memory_bytes) / 1e6),
                {.remedy = "Use a smaller batch or network, or --backend cpu."});
  }
  Require(error, "allocating memory");
  Require(cudaMemsetAsync(memory, 0, static_cast<size_t>(size_bytes), state_->stream), "clearing memory");
  Require(cudaStreamSynchronize(state_->stream), "clearing memory");  // copies in other streams may come next
  return memory;
}

void Device::Free(void* memory) noexcept {
  if (memory != nullptr) {
    Use();
    cudaStreamSynchronize(state_->stream);
    cudaFree(memory);
  }
}

void Device::Upload(void* to, const void* host, int64_t size_bytes) {
  if (size_bytes > 0) {
    ThrowKept();
    Use();
    Require(cudaMemcpyAsync(to, host, static_cast<size_t>(size_bytes), cudaMemcpyHostToDevice, state_->stream),
            "a copy to the GPU");
    Synchronize();
  }
}

void Device::Download(void* host, const void* from, int64_t size_bytes) {
  if (size_bytes > 0) {
    ThrowKept();
    Use();
    Require(cudaMemcpyAsync(host, from, static_cast<size_t>(size_bytes), cudaMemcpyDeviceToHost, state_->stream),
            "a copy from the GPU");
    Synchronize();
  }
}

void Device::Copy(void* to, const void* from, int64_t size_bytes) noexcept {
  if (size_bytes > 0 && to != from) {
    Use();
    if (const cudaError_t error =
            cudaMemcpyAsync(to, from, static_cast<size_t>(size_bytes), cudaMemcpyDeviceToDevice, state_->stream);
        error != cudaSuccess) {
      KeepError(fmt::format("a copy inside the GPU failed: {}", cudaGetErrorString(error)));
    }
  }
}

void Device::Synchronize() {
  ThrowKept();
  Use();
  if (watch_) {  // looks and sleeps in turn: short waits are short
    const Stopwatch waited;
    while (cudaStreamQuery(state_->stream) == cudaErrorNotReady) {
      watch_(waited.Elapsed_seconds());
      if (waited.Elapsed_seconds() > kLooks_seconds) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  }
  Require(cudaStreamSynchronize(state_->stream), "work on the GPU (LAMINA_CUDA_SYNC=1 names the operation)");
}

void Device::AwaitOthers() {
  ThrowKept();
  Use();
  Require(cudaDeviceSynchronize(), "work that others asked the GPU to do");
}

// A kernel may have more shared memory than the default only once it was allowed.
cudaError_t Device::State::AllowShared(const void* kernel, int64_t size_bytes) noexcept {
  int64_t& allowed = shared_bytes.try_emplace(kernel, kDefaultShared_bytes).first->second;
  if (size_bytes <= allowed) {
    return cudaSuccess;
  }
  allowed = size_bytes;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(size_bytes));
}

Verdict Device::AskTogether(const void* kernel, int blocks, int threads, int64_t shared_bytes) noexcept {
  Use();
  int may = 0;
  if (cudaDeviceGetAttribute(&may, cudaDevAttrCooperativeLaunch, number_) != cudaSuccess || may == 0) {
    cudaGetLastError();
    return Verdict::No("this GPU does not launch blocks that wait for each other");
  }
  int resident = 0;
  cudaError_t error = state_->AllowShared(kernel, shared_bytes);
  if (error == cudaSuccess) {
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, static_cast<size_t>(shared_bytes));
  }
  if (error != cudaSuccess) {
    cudaGetLastError();  // not sticky
    return Verdict::No(fmt::format("blocks that wait for each other: {}", cudaGetErrorString(error)));
  }
  const int64_t most = int64_t{resident} * facts_.multiprocessors;
  return most >= blocks ? Verdict::Yes()
                        : Verdict::No(fmt::format(
                              "{} blocks that wait for each other do not fit the GPU at once, {} do", blocks, most));
}

void Device::LaunchKernel(const char* name, const void* kernel, const LaunchShape& shape, void** parameters) noexcept {
  Use();
  cudaError_t error = state_->AllowShared(kernel, shape.shared_bytes);
  if (error == cudaSuccess) {
    const dim3 block(static_cast<unsigned>(shape.threads));
    const auto shared = static_cast<size_t>(shape.shared_bytes);
    if (shape.together) {
      error = cudaLaunchCooperativeKernel(kernel, shape.grid, block, parameters, shared, state_->stream);
    } else if (shape.cluster > 1) {
      cudaLaunchAttribute cluster{};
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = shape.cluster;
      cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = shape.grid;
      config.blockDim = block;
      config.dynamicSmemBytes = shared;
      config.stream = state_->stream;
      config.attrs = &cluster;
      config.numAttrs = 1;
      error = cudaLaunchKernelExC(&config, kernel, parameters);
    } else {
      error = cudaLaunchKernel(kernel, shape.grid, block, parameters, shared, state_->stream);
    }
  }
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  if (error == cudaSuccess && state_->synchronous) {
    cudaStreamIsCapturing(state_->stream, &capturing);
    error = capturing == cudaStreamCaptureStatusNone ? cudaStreamSynchronize(state_->stream) : cudaSuccess;
  }
  if (error != cudaSuccess) {
    KeepError(fmt::format("kernel {} failed: {} ({})", name, cudaGetErrorString(error), cudaGetErrorName(error)));
  }
}

void Device::KeepError(const std::string& what) noexcept {
  if (state_->kept.empty()) {
    state_->kept = what;
  }
}

void Device::ThrowKept() {
  if (!state_->kept.empty()) {
    const std::string kept = std::exchange(state_->kept, {});
    throw Error(ErrorCode::kUnsupported, "CUDA: " + kept);
  }
}

void* Device::stream() const { return state_->stream; }

}  // namespace lamina::cuda
