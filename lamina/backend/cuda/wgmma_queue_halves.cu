// The same as wgmma_queue_f32.cu, of halves.
#include "lamina/backend/cuda/queue_launch.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchWgmmaQueue(Device&, const char*, const ProductLaunch<Float16, float>&,
                               const ForwardEpilogue<float, float>&);
template void LaunchWgmmaQueue(Device&, const char*, const ProductLaunch<BFloat16, float>&,
                               const ForwardEpilogue<float, float>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
