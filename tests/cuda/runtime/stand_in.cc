// The functions that device.cc and copy_streams.cc call, as cuda_runtime_api.h declares them.
#include "tests/cuda/runtime/stand_in.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace lamina::runtime_stand_in {
namespace {

thread_local int current = 0;
std::mutex mutex;
std::vector<std::string> mistakes;
std::atomic<int> calls = 0;

// What a handle stands for: the GPU that was the thread's when it was made.
struct Made {
  int gpu;
};

template <class Handle>
cudaError_t Make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(new Made{current});
  return cudaSuccess;
}
template <class Handle>
cudaError_t Drop(Handle handle) {
  delete reinterpret_cast<Made*>(handle);
  return cudaSuccess;
}
// A call that takes work for what `handle` is of.
template <class Handle>
cudaError_t Use(Handle handle, const char* function) {
  ++calls;
  const int gpu = reinterpret_cast<Made*>(handle)->gpu;
  if (gpu != current) {
    const std::lock_guard lock(mutex);
    mistakes.push_back(fmt::format("{}: GPU {}, not {}", function, gpu, current));
    return cudaErrorInvalidResourceHandle;
  }
  return cudaSuccess;
}

}  // namespace

Machine& TheMachine() {
  static Machine machine;
  return machine;
}
std::vector<std::string> Mistakes() {
  const std::lock_guard lock(mutex);
  return mistakes;
}
int CurrentGpu() { return current; }
void ChooseGpu(int number) { current = number; }
int Calls() { return calls; }

namespace {

std::vector<int64_t> last_map;
int last_cluster = 0;
std::vector<StreamCall> stream_calls;
int branches = 0;

CUresult EncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data, const cuuint64_t* sizes,
                     const cuuint64_t* stride_bytes, const cuuint32_t* part, const cuuint32_t*, CUtensorMapInterleave,
                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  std::memcpy(static_cast<void*>(map), &data, sizeof(data));
  last_map = {rank,
              static_cast<int64_t>(sizes[0]),
              static_cast<int64_t>(sizes[1]),
              static_cast<int64_t>(stride_bytes[0]),
              part[0],
              part[1],
              type,
              swizzle,
              fill};
  return static_cast<CUresult>(TheMachine().map_result);
}

}  // namespace

std::vector<int64_t> LastMap() { return last_map; }
int LastCluster() { return last_cluster; }
std::vector<StreamCall> StreamCalls() { return stream_calls; }
int Branches() { return branches; }

}  // namespace lamina::runtime_stand_in

using namespace lamina::runtime_stand_in;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  *version = TheMachine().driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  if (TheMachine().driver < CUDART_VERSION / 1000 * 1000) {
    return cudaErrorInsufficientDriver;
  }
  *count = TheMachine().gpus;
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }
const char* cudaGetErrorName(cudaError_t error) { return error == cudaSuccess ? "cudaSuccess" : "cudaErrorOther"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrCooperativeLaunch: *value = TheMachine().cooperative ? 1 : 0; break;
    default: *value = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device >= TheMachine().gpus) {
    return cudaErrorInvalidDevice;
  }
  ChooseGpu(device);
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = CurrentGpu();
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "stand-in %d", device);
  properties->major = 9;
  properties->multiProcessorCount = 4;
  properties->sharedMemPerBlockOptin = 227 * 1024;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = TheMachine().resident;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, size_t size) {
  *memory = std::malloc(size);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, size_t size) { return cudaMalloc(memory, size); }
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = size_t{1} << 30;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return Make(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return Drop(stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return Use(stream, "cudaStreamSynchronize"); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return Use(stream, "cudaStreamQuery"); }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaMemsetAsync(void* memory, int value, size_t size, cudaStream_t stream) {
  std::memset(memory, value, size);
  return Use(stream, "cudaMemsetAsync");
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t stream) {
  std::memcpy(to, from, size);
  return Use(stream, "cudaMemcpyAsync");
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t stream) {
  return Use(stream, "cudaLaunchKernel");
}
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t stream) {
  return Use(stream, "cudaLaunchCooperativeKernel");
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
  last_cluster = config->numAttrs == 1 && config->attrs[0].id == cudaLaunchAttributeClusterDimension
                     ? static_cast<int>(config->attrs[0].val.clusterDim.x)
                     : 0;
  return Use(config->stream, "cudaLaunchKernelExC");
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool found = TheMachine().maps && std::string(name) == "cuTensorMapEncodeTiled";
  *function = found ? reinterpret_cast<void*>(&EncodeTiled) : nullptr;
  *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return Make(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return Drop(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  stream_calls.push_back({"record", stream});
  const cudaError_t error = Use(event, "cudaEventRecord");
  return error != cudaSuccess ? error : Use(stream, "cudaEventRecord");
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return Use(event, "cudaEventSynchronize"); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t, unsigned) {
  stream_calls.push_back({"wait", stream});
  return Use(stream, "cudaStreamWaitEvent");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return Use(stream, "cudaStreamBeginCapture");
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  Make(graph);
  return Use(stream, "cudaStreamEndCapture");
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) { return Make(graph); }
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t,
                                       cudaGraph_t child) {
  *node = nullptr;
  ++branches;
  const cudaError_t error = Use(graph, "cudaGraphAddChildGraphNode");
  return error != cudaSuccess ? error : Use(child, "cudaGraphAddChildGraphNode");
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return Drop(graph); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t, unsigned long long) { return Make(ready); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return Drop(graph); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  stream_calls.push_back({"launch", stream});
  const cudaError_t error = Use(graph, "cudaGraphLaunch");
  return error != cudaSuccess ? error : Use(stream, "cudaGraphLaunch");
}

}  // extern "C"
