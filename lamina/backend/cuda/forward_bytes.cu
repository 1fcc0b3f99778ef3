// Forward products of bytes: exact sums.
#include "lamina/backend/cuda/forward.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchForward(Device&, Synapse, const ProductLaunch<int8_t, int32_t>&,
                            const ForwardEpilogue<float, int32_t>&);
template void LaunchForward(Device&, Synapse, const ProductLaunch<uint8_t, int32_t>&,
                            const ForwardEpilogue<float, int32_t>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
