// The variants with a group of warps that fetches, compiled for compute capability 9.0a alone, as wgmma.cu.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "lamina/backend/cuda/blocks.cuh"
#include "lamina/backend/cuda/tensor.cuh"
#include "lamina/backend/cuda/tensor_map.h"
#include "lamina/backend/cuda/wgmma_queue.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

template <class Kind, class Shape, class E>
void LaunchQueue(Device& device, const char* name, const ProductArgs<E, float>& args,
                 const ForwardEpilogue<float, float>& epilogue) {
  using Queue = WgmmaQueue<Kind, E, Shape>;
  const auto map_of = [&](const Operand<E>& operand, int64_t lines, int part_lines) {
    return MapOf(device, {operand.data, std::is_same_v<E, BFloat16>, lines, args.depth, operand.stride, part_lines});
  };
  const Sources sources{map_of(args.a, args.rows, Shape::kRows),
                        map_of(args.b, args.cols, Shape::kCols / static_cast<int>(Shape::kCluster))};
  const int64_t cluster = Shape::kCluster;
  const int64_t tiles =
      CeilOf(CeilOf(args.rows, Shape::kRows), cluster) * CeilOf(args.cols, Shape::kCols) * PartsOf(args) * cluster;
  const int64_t at_once = std::max<int64_t>(1, device.facts().multiprocessors / cluster) * cluster;
  const Device::LaunchShape shape{.grid = dim3{static_cast<unsigned>(std::min(tiles, at_once)), 1, 1},
                                  .threads = kQueueThreads,
                                  .shared_bytes = Queue::kShared_bytes,
                                  .together = false,
                                  .cluster = Shape::kCluster};
  device.LaunchAs(name, &WgmmaQueueKernel<Queue, E, ForwardEpilogue<float, float>>, shape, args, sources, epilogue);
}

}  // namespace

template <class E>
void LaunchWgmmaQueue(Device& device, const char* name, const ProductLaunch<E, float>& launch,
                      const ForwardEpilogue<float, float>& epilogue) {
  VisitKind<E>(launch.precision, [&]<class Kind>(Kind) {
    if (launch.kernel == ProductKernel::kWgmmaPingPongPair) {
      LaunchQueue<Kind, QueueShape<2>>(device, name, launch.args, epilogue);
    } else {
      LaunchQueue<Kind, QueueShape<1>>(device, name, launch.args, epilogue);
    }
  });
}

template void LaunchWgmmaQueue(Device&, const char*, const ProductLaunch<Float16, float>&,
                               const ForwardEpilogue<float, float>&);
template void LaunchWgmmaQueue(Device&, const char*, const ProductLaunch<BFloat16, float>&,
                               const ForwardEpilogue<float, float>&);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
