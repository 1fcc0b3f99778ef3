// The variants of three stages, as wgmma.cu has those of two: compiled for compute capability 9.0a alone.
#include "lamina/backend/cuda/blocks.cuh"
#include "lamina/backend/cuda/tensor.cuh"
#include "lamina/backend/cuda/wgmma_tile.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class E>
void LaunchWgmmaThree(Device& device, const char* name, const ProductLaunch<E, float>& launch,
                      const ForwardEpilogue<float, float>& epilogue) {
  VisitKind<E>(launch.precision, [&]<class Kind>(Kind) {
    const auto of_shape = [&]<class Shape>(Shape) {
      using TileType = WgmmaTile<Kind, E, Shape, Contiguous::kSum, Contiguous::kSum, 3>;
      LaunchBlocks<Shape>(device, name, &WgmmaKernel<TileType, E, ForwardEpilogue<float, float>>,
                          TileType::kShared_bytes, launch.args, epilogue);
    };
    if (launch.kernel == ProductKernel::kWgmmaThree) {
      of_shape(WgmmaLargeShape{});
    } else {
      of_shape(WgmmaSmallShape{});
    }
  });
}

#define LAMINA_WGMMA_THREE(E)                                                          \
  template void LaunchWgmmaThree(Device&, const char*, const ProductLaunch<E, float>&, \
                                 const ForwardEpilogue<float, float>&);
LAMINA_WGMMA_THREE(float)
LAMINA_WGMMA_THREE(Float16)
LAMINA_WGMMA_THREE(BFloat16)
#undef LAMINA_WGMMA_THREE

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
