// Products by groups of warps, compiled for compute capability 9.0a alone. No kernel here may also be launched by
// another file: the runtime would take the one that only this GPU has.
#include "lamina/backend/cuda/blocks.cuh"
#include "lamina/backend/cuda/tensor.cuh"
#include "lamina/backend/cuda/wgmma_tile.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <Contiguous kA, Contiguous kB, class E, class Epilogue>
void LaunchWgmma(Device& device, const char* name, const ProductLaunch<E, float>& launch, const Epilogue& epilogue) {
  VisitKind<E>(launch.precision, [&]<class Kind>(Kind) {
    const auto of_shape = [&]<class Shape>(Shape) {
      using TileType = WgmmaTile<Kind, E, Shape, kA, kB>;
      LaunchBlocks<Shape>(device, name, &WgmmaKernel<TileType, E, Epilogue>, TileType::kShared_bytes, launch.args,
                          epilogue);
    };
    if (BaseOf(launch.kernel) == ProductKernel::kWgmma) {
      of_shape(WgmmaLargeShape{});
    } else {
      of_shape(WgmmaSmallShape{});
    }
  });
}

#define LAMINA_WGMMA_FORWARD(E)                                                                                       \
  template void LaunchWgmma<Contiguous::kSum, Contiguous::kSum>(Device&, const char*, const ProductLaunch<E, float>&, \
                                                                const ForwardEpilogue<float, float>&);
LAMINA_WGMMA_FORWARD(float)
LAMINA_WGMMA_FORWARD(Float16)
LAMINA_WGMMA_FORWARD(BFloat16)
#undef LAMINA_WGMMA_FORWARD
template void LaunchWgmma<Contiguous::kSum, Contiguous::kLines>(Device&, const char*,
                                                                const ProductLaunch<float, float>&,
                                                                const SlopeEpilogue<float>&);
template void LaunchWgmma<Contiguous::kLines, Contiguous::kLines>(Device&, const char*,
                                                                  const ProductLaunch<float, float>&,
                                                                  const ParameterEpilogue<float>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
