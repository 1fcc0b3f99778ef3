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
  if (IsWgmma(launch.kernel)) {
    constexpr bool kForward = std::is_same_v<Epilogue, ForwardEpilogue<float, float>>;
    if constexpr (kForward) {
      if constexpr (!std::is_same_v<E, float>) {
        if (IsVariant(launch.kernel) && MayQueue(launch.args)) {
          LaunchWgmmaQueue(device, name, launch, epilogue);
          AddParts(device, launch.args, epilogue);
          return;
        }
      }
    }
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

constexpr int kNormThreads = 256;

/// A warp a line.
template <class Kind, class E>
__global__ void NormsKernel(Operand<E> from, int64_t lines, int64_t depth, float* norms) {
  const int64_t line = (static_cast<int64_t>(blockIdx.x) * kNormThreads + threadIdx.x) / kWarp;
  if (line >= lines) {
    return;
  }
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  float sum = 0;
  for (int64_t k = lane; k < depth; k += kWarp) {
    float number = ToNumber<float>(from.data[line * from.stride + k]);
    if constexpr (std::is_same_v<Kind, Tf32>) {
      number = FloatOf(ToTf32(number));
    }
    sum += number * number;
  }
  sum = WarpSum(sum);
  if (lane == 0) {
    norms[line] = sum;
  }
}

}  // namespace

template <class E>
void LaunchNorms(Device& device, const ProductLaunch<E, float>& launch, float* norms) {
  const ProductArgs<E, float>& args = launch.args;
  VisitKind<E>(launch.precision, [&]<class Kind>(Kind) {
    const auto of = [&](const Operand<E>& from, int64_t lines, float* to) {
      device.Launch("norms", &NormsKernel<Kind, E>,
                    dim3{static_cast<unsigned>(CeilOf(lines * kWarp, kNormThreads)), 1, 1}, kNormThreads, 0, from,
                    lines, args.depth, to);
    };
    of(args.a, args.rows, norms);
    of(args.b, args.cols, norms + args.rows);
  });
}
template void LaunchNorms(Device&, const ProductLaunch<float, float>&, float*);
template void LaunchNorms(Device&, const ProductLaunch<Float16, float>&, float*);
template void LaunchNorms(Device&, const ProductLaunch<BFloat16, float>&, float*);

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
