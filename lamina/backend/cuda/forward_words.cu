// Forward products of i16 and i32: exact sums.
#include "lamina/backend/cuda/forward.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchForward(Device&, Synapse, const ProductLaunch<int16_t, int64_t>&,
                            const ForwardEpilogue<float, int64_t>&);
template void LaunchForward(Device&, Synapse, const ProductLaunch<int32_t, int64_t>&,
                            const ForwardEpilogue<double, int64_t>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
