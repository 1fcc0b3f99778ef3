// Gradient products of f32 and f64.
#include "lamina/backend/cuda/product.cuh"
#include "lamina/backend/cuda/tensor.cuh"
#include "lamina/backend/cuda/wgmma_tile.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

TileSides SidesOf(ProductKernel named, DType dtype, bool needs_own) {
  const ProductKernel kernel = BaseOf(named);
  if (kernel == ProductKernel::kTensor) {
    return {TensorLargeShape::kRows, TensorLargeShape::kCols};
  }
  if (kernel == ProductKernel::kTensorSmall) {
    return {TensorSmallShape::kRows, TensorSmallShape::kCols};
  }
  if (kernel == ProductKernel::kWgmma) {
    return {WgmmaLargeShape::kRows, WgmmaLargeShape::kCols};
  }
  if (kernel == ProductKernel::kWgmmaSmall) {
    return {WgmmaSmallShape::kRows, WgmmaSmallShape::kCols};
  }
  if (kernel == ProductKernel::kMedium && dtype == DType::kF32 && !needs_own) {
    return {MediumShape::kRows, MediumShape::kCols};
  }
  if (kernel != ProductKernel::kLarge || DTypeSize_bytes(SumType(dtype)) > 4) {
    return {SmallShape::kRows, SmallShape::kCols};
  }
  return needs_own ? TileSides{LargeShape<float, true>::kRows, LargeShape<float, true>::kCols}
                   : TileSides{LargeShape<float, false>::kRows, LargeShape<float, false>::kCols};
}

template <class T>
void LaunchInputGradient(Device& device, Synapse synapse, const ProductLaunch<T, T>& launch,
                         const SlopeEpilogue<T>& epilogue) {
  VisitSynapse(synapse, [&]<class F>(F) {
    LaunchProduct<SlopeOp<typename F::Term>, Contiguous::kSum, Contiguous::kLines>(device, "input gradient", launch,
                                                                                   epilogue);
  });
}

template <class T>
void LaunchWeightGradient(Device& device, Synapse synapse, const ProductLaunch<T, T>& launch,
                          const ParameterEpilogue<T>& epilogue) {
  VisitSynapse(synapse, [&]<class F>(F) {
    LaunchProduct<SlopeOp<typename F::Term>, Contiguous::kLines, Contiguous::kLines>(device, "weight gradient", launch,
                                                                                     epilogue);
  });
}

template void LaunchInputGradient(Device&, Synapse, const ProductLaunch<float, float>&, const SlopeEpilogue<float>&);
template void LaunchInputGradient(Device&, Synapse, const ProductLaunch<double, double>&, const SlopeEpilogue<double>&);
template void LaunchWeightGradient(Device&, Synapse, const ProductLaunch<float, float>&,
                                   const ParameterEpilogue<float>&);
template void LaunchWeightGradient(Device&, Synapse, const ProductLaunch<double, double>&,
                                   const ParameterEpilogue<double>&);
// For a product that the library computes.
template void LaunchEpilogue(Device&, const float*, int64_t, int64_t, int64_t, int64_t, const SlopeEpilogue<float>&);
template void LaunchEpilogue(Device&, const double*, int64_t, int64_t, int64_t, int64_t, const SlopeEpilogue<double>&);
template void LaunchEpilogue(Device&, const float*, int64_t, int64_t, int64_t, int64_t,
                             const ParameterEpilogue<float>&);
template void LaunchEpilogue(Device&, const double*, int64_t, int64_t, int64_t, int64_t,
                             const ParameterEpilogue<double>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
