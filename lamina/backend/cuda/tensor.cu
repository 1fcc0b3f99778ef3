// Products on the tensor cores: forward of f32 (rounded) and of halves, gradients of f32.
#include "lamina/backend/cuda/tensor.cuh"

#include "lamina/backend/cuda/product.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

template <class Kind, class Shape, Contiguous kA, Contiguous kB, class E, class Epilogue>
void LaunchTensorTile(Device& device, const char* name, const ProductArgs<E, float>& args, const Epilogue& epilogue) {
  using TileType = TensorTile<Kind, E, Shape, kA, kB>;
  LaunchTiles<Shape>(device, name, &TensorKernel<TileType, E, Epilogue>, TileType::kShared_bytes, args, epilogue);
}

template <Contiguous kA, Contiguous kB, class E, class Epilogue>
void LaunchTensor(Device& device, const char* name, const ProductLaunch<E, float>& launch, const Epilogue& epilogue) {
  if (launch.args.rows == 0 || launch.args.cols == 0) {
    return;
  }
#if defined(LAMINA_HAVE_WGMMA)
  if (launch.kernel == ProductKernel::kWgmma || launch.kernel == ProductKernel::kWgmmaSmall) {
    LaunchWgmma<kA, kB>(device, name, launch, epilogue);
    AddParts(device, launch.args, epilogue);
    return;
  }
#endif
  VisitKind<E>(launch.precision, [&]<class Kind>(Kind) {
    if (launch.kernel == ProductKernel::kTensor) {
      LaunchTensorTile<Kind, TensorLargeShape, kA, kB>(device, name, launch.args, epilogue);
    } else {
      LaunchTensorTile<Kind, TensorSmallShape, kA, kB>(device, name, launch.args, epilogue);
    }
  });
}

}  // namespace

template <class E>
void LaunchTensorForward(Device& device, const ProductLaunch<E, float>& launch,
                         const ForwardEpilogue<float, float>& epilogue) {
  LaunchTensor<Contiguous::kSum, Contiguous::kSum>(device, "tensor forward", launch, epilogue);
}
template void LaunchTensorForward(Device&, const ProductLaunch<float, float>&, const ForwardEpilogue<float, float>&);
template void LaunchTensorForward(Device&, const ProductLaunch<Float16, float>&, const ForwardEpilogue<float, float>&);
template void LaunchTensorForward(Device&, const ProductLaunch<BFloat16, float>&, const ForwardEpilogue<float, float>&);

void LaunchTensorInputGradient(Device& device, const ProductLaunch<float, float>& launch,
                               const SlopeEpilogue<float>& epilogue) {
  LaunchTensor<Contiguous::kSum, Contiguous::kLines>(device, "tensor input gradient", launch, epilogue);
}

void LaunchTensorWeightGradient(Device& device, const ProductLaunch<float, float>& launch,
                                const ParameterEpilogue<float>& epilogue) {
  LaunchTensor<Contiguous::kLines, Contiguous::kLines>(device, "tensor weight gradient", launch, epilogue);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
