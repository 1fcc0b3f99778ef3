// Forward products of integers: exact sums.
#include "lamina/backend/cuda/product.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class E, class S, class T>
void LaunchForward(Device& device, Synapse synapse, const ProductLaunch<E, S>& launch,
                   const ForwardEpilogue<T, S>& epilogue) {
  VisitSynapse(synapse, [&]<class F>(F) {
    LaunchProduct<TermOp<typename F::Term>, Contiguous::kSum, Contiguous::kSum>(device, "forward", launch, epilogue);
  });
}

template void LaunchForward(Device&, Synapse, const ProductLaunch<int64_t, int64_t>&,
                            const ForwardEpilogue<double, int64_t>&);
template void LaunchForward(Device&, Synapse, const ProductLaunch<int32_t, int64_t>&,
                            const ForwardEpilogue<double, int64_t>&);
template void LaunchForward(Device&, Synapse, const ProductLaunch<int16_t, int64_t>&,
                            const ForwardEpilogue<float, int64_t>&);
template void LaunchForward(Device&, Synapse, const ProductLaunch<int8_t, int32_t>&,
                            const ForwardEpilogue<float, int32_t>&);
template void LaunchForward(Device&, Synapse, const ProductLaunch<uint8_t, int32_t>&,
                            const ForwardEpilogue<float, int32_t>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
