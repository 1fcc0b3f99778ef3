// Forward products of i64: exact sums.
#include "lamina/backend/cuda/forward.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchForward(Device&, Synapse, const ProductLaunch<int64_t, int64_t>&,
                            const ForwardEpilogue<double, int64_t>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
