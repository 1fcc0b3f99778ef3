// Forward products of f32.
#include "lamina/backend/cuda/forward.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template void LaunchForward(Device&, Synapse, const ProductLaunch<float, float>&, const ForwardEpilogue<float, float>&);
// For a product that the library computes.
template void LaunchEpilogue(Device&, const float*, int64_t, int64_t, int64_t, int64_t,
                             const ForwardEpilogue<float, float>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
