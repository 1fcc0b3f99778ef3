// Sums of whole arrays: a thread an element, as fast as the memory is.
#include "lamina/backend/cuda/arrays.h"

#include <algorithm>

#include "lamina/backend/cuda/numbers.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr int kThreadsOfArrays = 256;

dim3 GridOfArrays(int64_t count) {
  return dim3{static_cast<unsigned>(std::clamp<int64_t>((count + kThreadsOfArrays - 1) / kThreadsOfArrays, 0, 4096)), 1,
              1};
}

// apply(i) for all i < count.
template <class Apply>
__device__ void ForEachElement(int64_t count, const Apply& apply) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    apply(i);
  }
}

template <class T>
__global__ void ScaleKernel(T* to, const T* from, T scale, bool add, int64_t count) {
  ForEachElement(count, [&](int64_t i) {
    T scaled = scale * from[i];
    Opaque(scaled);  // rounded before it is added
    to[i] = add ? to[i] + scaled : scaled;
  });
}

template <class To, class From>
__global__ void ConvertKernel(To* to, const From* from, int64_t count) {
  ForEachElement(count, [&](int64_t i) { to[i] = static_cast<To>(ToNumber<float>(from[i])); });
}

}  // namespace

template <class T>
void LaunchScale(Device& device, T* to, const T* from, T scale, bool add, int64_t count) {
  device.Launch("sum of arrays", &ScaleKernel<T>, GridOfArrays(count), kThreadsOfArrays, 0, to, from, scale, add,
                count);
}
template void LaunchScale(Device&, float*, const float*, float, bool, int64_t);
template void LaunchScale(Device&, double*, const double*, double, bool, int64_t);

template <class To, class From>
void LaunchConvert(Device& device, To* to, const From* from, int64_t count) {
  device.Launch("converted array", &ConvertKernel<To, From>, GridOfArrays(count), kThreadsOfArrays, 0, to, from, count);
}
template void LaunchConvert(Device&, BFloat16*, const float*, int64_t);
template void LaunchConvert(Device&, BFloat16*, const double*, int64_t);
template void LaunchConvert(Device&, float*, const BFloat16*, int64_t);
template void LaunchConvert(Device&, double*, const BFloat16*, int64_t);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
