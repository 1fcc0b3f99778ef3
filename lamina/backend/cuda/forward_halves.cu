// Forward products of the 16-bit floating-point types.
#include "lamina/backend/cuda/forward.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchForward(Device&, Synapse, const ProductLaunch<Float16, float>&,
                            const ForwardEpilogue<float, float>&);
template void LaunchForward(Device&, Synapse, const ProductLaunch<BFloat16, float>&,
                            const ForwardEpilogue<float, float>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
