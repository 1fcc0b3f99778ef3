// Reducing products of f32 and f64.
#include "lamina/backend/cuda/reduce.cuh"

#include <limits>

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

template <class T>
int64_t ColumnTiles(const ProductArgs<T, T>& args) {
  return (args.cols + kReducedColumns - 1) / kReducedColumns;
}

template <class F, class T, class Epilogue>
void LaunchReducing(Device& device, const char* name, const ProductArgs<T, T>& args, const Epilogue& epilogue) {
  using Shape = ReducingShape<T>;
  using TileType = Tile<TermOp<typename F::Term>, T, T, Shape, Contiguous::kSum, Contiguous::kSum>;
  const int64_t tiles = ((args.rows + Shape::kRows - 1) / Shape::kRows) * ColumnTiles(args);
  device.Launch(name, &TileKernel<TileType, T, T, Epilogue>, dim3{static_cast<unsigned>(tiles), 1, 1}, kBlockThreads,
                TileType::kShared_bytes, args, epilogue);
}

// Products are not reduced to activations: a library computes them, whose results have to be stored.
template <class Fn>
void VisitDistance(Synapse synapse, const Fn& fn) {
  VisitSynapse(synapse, [&]<class F>(F formula) {
    if constexpr (F::Term::kIsDistance) {
      fn(formula);
    }
  });
}

template <class T>
void LaunchSortLists(Device& device, const char* name, const DeviceLists<T>& lists, int64_t rows, int64_t k,
                     int64_t none, T* sums, int64_t* indices) {
  using Limits = std::numeric_limits<T>;
  const T farthest = lists.largest ? -Limits::infinity() : Limits::infinity();
  device.Launch(name, &SortListsKernel<T>, dim3{static_cast<unsigned>(rows), 1, 1}, kBlockThreads,
                static_cast<int64_t>(sizeof(ListInBlock<T>)), lists, k, farthest, none, sums, indices);
}

}  // namespace

template <class T>
void LaunchNear(Device& device, Synapse synapse, const ProductArgs<T, T>& args, const DeviceLists<T>& lists,
                int64_t first_index) {
  VisitSynapse(synapse, [&]<class F>(F) {
    LaunchReducing<F>(device, "near rows", args, NearEpilogue<T>{lists, first_index});
  });
}

template <class T>
void LaunchCut(Device& device, const DeviceLists<T>& lists, int64_t rows, int64_t k) {
  LaunchSortLists<T>(device, "cutting lists", lists, rows, k, 0, nullptr, nullptr);
}

template <class T>
void LaunchSorted(Device& device, const DeviceLists<T>& lists, int64_t rows, int64_t k, int64_t none, T* sums,
                  int64_t* indices) {
  LaunchSortLists<T>(device, "sorting lists", lists, rows, k, none, sums, indices);
}

template <class T>
void LaunchActivationSums(Device& device, Synapse synapse, const ProductArgs<T, T>& args,
                          const DeviceActivation& activation, double* parts, double* sums) {
  VisitDistance(synapse, [&]<class F>(F) {
    LaunchReducing<F>(device, "activation sums", args, ActivationSumEpilogue<T>{synapse, activation, parts});
  });
  LaunchEpilogue(device, parts, ColumnTiles(args), 0, args.rows, 1, StoreSum{sums});
}

template <class T>
void LaunchTwoLayers(Device& device, Synapse synapse, const ProductArgs<T, T>& args,
                     const TwoLayerEpilogues<T>& epilogues) {
  VisitDistance(synapse, [&]<class F>(F) {
    LaunchReducing<F>(device, "two layers", args, WeightedSumEpilogue<T>{synapse, epilogues});
  });
  LaunchEpilogue(device, epilogues.parts, ColumnTiles(args), 0, args.rows, epilogues.outputs, epilogues.output);
}

#define LAMINA_REDUCE(T)                                                                                           \
  template void LaunchNear(Device&, Synapse, const ProductArgs<T, T>&, const DeviceLists<T>&, int64_t);            \
  template void LaunchCut(Device&, const DeviceLists<T>&, int64_t, int64_t);                                       \
  template void LaunchSorted(Device&, const DeviceLists<T>&, int64_t, int64_t, int64_t, T*, int64_t*);             \
  template void LaunchActivationSums(Device&, Synapse, const ProductArgs<T, T>&, const DeviceActivation&, double*, \
                                     double*);                                                                     \
  template void LaunchTwoLayers(Device&, Synapse, const ProductArgs<T, T>&, const TwoLayerEpilogues<T>&)
LAMINA_REDUCE(float);
LAMINA_REDUCE(double);
#undef LAMINA_REDUCE

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
