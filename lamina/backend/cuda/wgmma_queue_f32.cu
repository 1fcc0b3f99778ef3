// The variants with a group of warps that fetches, of f32: compiled for compute capability 9.0a alone, as wgmma.cu.
#include "lamina/backend/cuda/queue_launch.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchWgmmaQueue(Device&, const char*, const ProductLaunch<float, float>&,
                               const ForwardEpilogue<float, float>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
