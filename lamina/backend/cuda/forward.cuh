// Forward products of every element type; each file forward_*.cu instantiates a few, so that none takes long to
// compile.
#pragma once

#include "lamina/backend/cuda/product.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class E, class S, class T>
void LaunchForward(Device& device, Synapse synapse, const ProductLaunch<E, S>& launch,
                   const ForwardEpilogue<T, S>& epilogue) {
  if constexpr (std::is_same_v<E, Float16> || std::is_same_v<E, BFloat16>) {
    if (launch.precision == Precision::kFast && synapse == Synapse::kL1 && launch.args.rows > 0 &&
        launch.args.cols > 0) {
      LaunchTile<PairOp, Contiguous::kSum, Contiguous::kSum, PairShape>(device, "forward of pairs", launch.args,
                                                                        epilogue);
      return;
    }
  }
  VisitSynapse(synapse, [&]<class F>(F) {
    LaunchProduct<TermOp<typename F::Term>, Contiguous::kSum, Contiguous::kSum>(device, "forward", launch, epilogue);
  });
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
