// Forward products of f64.
#include "lamina/backend/cuda/forward.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchForward(Device&, Synapse, const ProductLaunch<double, double>&,
                            const ForwardEpilogue<double, double>&);
// For a product that the library computes.
template void LaunchEpilogue(Device&, const double*, int64_t, int64_t, int64_t, int64_t,
                             const ForwardEpilogue<double, double>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
