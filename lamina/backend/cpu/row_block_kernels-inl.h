// Passes of a layer over a block of rows, a lane a row. Register tiles are outputs × vectors of rows. Activations
// follow while a tile is in the first-level cache; gradients are sums of each lane.
#if defined(LAMINA_BACKEND_CPU_ROW_BLOCK_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ROW_BLOCK_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_ROW_BLOCK_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_ROW_BLOCK_KERNELS_INL_H_
#endif

#include "lamina/backend/cpu/bf16_round-inl.h"
#include "lamina/backend/cpu/row_block_loss-inl.h"
#include "lamina/backend/cpu/row_block_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// The input gradient: rows are weights, columns deltas, and `own` the inputs of a distance.
template <class Term>
struct RowBlockSlopeSum : SlopeSum<Term> {
  static constexpr bool kOneOrder = true;
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T> own, VecOf<T> sum) {
    return Term::AccumulateSlope(Pack<T>(column), Pack<T>(own), Pack<T>(row), Pack<T>(sum)).v;
  }
};

// What a tile is told besides its operands.
template <class T>
struct RowBlockTile {
  TileInput<T> in;
  const T* bias;  // of its first row, or null
  T* distance;    // or null
  T* out;
  int64_t stride;
};

// A tile of sums over the depth, finished by the synapse, with the bias.
template <class Synapse, class T, int kRows, int kVectors>
HWY_NOINLINE void RowBlockForwardTile(const RowBlockTile<T>& tile) {
  const Tag<T> d;
  const int64_t stride = tile.stride;
  const T* const bias = tile.bias;
  T* const out = tile.out;
  T* const distance = tile.distance;
  SumTile<TermSum<typename Synapse::Term>, T, kRows, kVectors>(tile.in, [=](int i, int j, VecOf<T> sum) HWY_ATTR {
    const int64_t at = i * stride + j * kLanes<T>;
    VecOf<T> finished = Synapse::Finish(Pack<T>(sum)).v;
    if constexpr (Synapse::kNeedsDistance) {
      hn::Store(finished, d, distance + at);
    }
    if (bias != nullptr) {
      finished = hn::Add(finished, hn::Set(d, bias[i]));
    }
    hn::Store(finished, d, out + at);
  });
}

template <class Synapse, class T, int kRows, int kVectors>
HWY_NOINLINE void RowBlockBackTile(const RowBlockTile<T>& tile) {
  const Tag<T> d;
  const int64_t stride = tile.stride;
  T* const out = tile.out;
  SumTile<RowBlockSlopeSum<typename Synapse::Term>, T, kRows, kVectors>(
      tile.in, [=](int i, int j, VecOf<T> sum) HWY_ATTR { hn::Store(sum, d, out + i * stride + j * kLanes<T>); });
}

template <class T>
using RowBlockTileFn = void (*)(const RowBlockTile<T>&);

template <class Synapse, class T, bool kForward>
HWY_INLINE RowBlockTileFn<T> RowBlockTileFor(int64_t rows, int64_t vectors) {
  using Term = typename Synapse::Term;
  constexpr int kRows = kForward ? TermSum<Term>::kRows : SlopeSum<Term>::kRows;
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    if constexpr (kForward) {
      return std::array<RowBlockTileFn<T>, sizeof...(I)>{
          &RowBlockForwardTile<Synapse, T, static_cast<int>(I) / kTileVectors + 1,
                               static_cast<int>(I) % kTileVectors + 1>...};
    } else {
      return std::array<RowBlockTileFn<T>, sizeof...(I)>{
          &RowBlockBackTile<Synapse, T, static_cast<int>(I) / kTileVectors + 1,
                            static_cast<int>(I) % kTileVectors + 1>...};
    }
  }
  (std::make_index_sequence<static_cast<size_t>(kRows * kTileVectors)>{});
  return kTable[static_cast<size_t>((rows - 1) * kTileVectors + vectors - 1)];
}

template <class Synapse, class T>
void RowBlockForward(const RowBlockLayer<T>& layer, const BlockOfRows& block) noexcept {
  constexpr int64_t kRows = TermSum<typename Synapse::Term>::kRows;
  T* const z = layer.z != nullptr ? layer.z : layer.a;
  const ValueFn<T> value = ValueFor<T>(*layer.activation);
  const BothFn<T> both = BothFor<T>(*layer.activation);
  const bool curved = layer.activation->kind() != 0 && !layer.activation->is_softmax();
  const int64_t vectors = block.stride / kLanes<T>;
  for (int64_t o = 0; o < layer.outputs; o += kRows) {
    const int64_t rows = std::min(kRows, layer.outputs - o);
    for (int64_t v = 0; v < vectors; v += kTileVectors) {
      const int64_t at = o * block.stride + v * kLanes<T>;
      const RowBlockTile<T> tile{{layer.weights + o * layer.inputs, layer.inputs, 1, layer.x + v * kLanes<T>,
                                  block.stride, layer.inputs, nullptr, nullptr},
                                 layer.bias == nullptr ? nullptr : layer.bias + o,
                                 layer.distance == nullptr ? nullptr : layer.distance + at,
                                 z + at,
                                 block.stride};
      RowBlockTileFor<Synapse, T, true>(rows, std::min<int64_t>(kTileVectors, vectors - v))(tile);
    }
    T* const of_tiles = z + o * block.stride;
    if (both != nullptr) {
      both(*layer.activation, of_tiles, layer.a + o * block.stride, of_tiles, rows * block.stride);
    } else if (curved) {
      value(*layer.activation, of_tiles, layer.a + o * block.stride, rows * block.stride);
    }
  }
  if (layer.activation->is_softmax()) {
    RowBlockSoftmax(z, layer.a, layer.outputs, block.stride);
  } else if (!curved && z != layer.a) {
    std::copy_n(z, layer.outputs * block.stride, layer.a);
  }
}

template <class Synapse, class T>
void RowBlockGradient(const RowBlockLayer<T>& layer, const BlockOfRows& block, bool turn) noexcept {
  if (turn && layer.rows != nullptr) {
    Transpose<T>(layer.x, block.stride, layer.inputs, block.stride, layer.rows, layer.row_stride);
  }
  if constexpr (Synapse::kScalesDelta) {
    const auto scale = [](VecOf<T> g, VecOf<T> at) HWY_ATTR { return Synapse::ScaleDelta(Pack<T>(g), Pack<T>(at)).v; };
    const T* const delta = layer.delta;
    Transform<T>(layer.outputs * block.stride, layer.scaled, scale, delta,
                 Synapse::kNeedsDistance ? static_cast<const T*>(layer.distance) : delta);
  }
  RowBlockSums<typename Synapse::Term>(layer, block);
}

template <class Synapse, class T>
void RowBlockBack(const RowBlockLayer<T>& layer, const RowBlockLayer<T>& before, const BlockOfRows& block) noexcept {
  using Sum = SlopeSum<typename Synapse::Term>;
  HWY_ALIGN T own[Sum::kReadsOwn ? Sum::kRows * kTileColumns<T> : 1];
  const T* const delta = RowBlockDelta(layer);
  const SlopeFn<T> slope = SlopeFor<T>(before.activation);
  const bool curved = before.activation->kind() != 0 && !before.activation->is_softmax();
  const int64_t vectors = block.stride / kLanes<T>;
  for (int64_t i = 0; i < layer.inputs; i += Sum::kRows) {
    const int64_t rows = std::min<int64_t>(Sum::kRows, layer.inputs - i);
    T* const out = before.delta + i * block.stride;
    for (int64_t v = 0; v < vectors; v += kTileVectors) {
      const int64_t width = std::min<int64_t>(kTileVectors, vectors - v) * kLanes<T>;
      for (int64_t r = 0; Sum::kReadsOwn && r < rows; ++r) {
        std::copy_n(layer.x + (i + r) * block.stride + v * kLanes<T>, width, own + r * width);
      }
      const RowBlockTile<T> tile{
          {layer.weights + i, 1, layer.inputs, delta + v * kLanes<T>, block.stride, layer.outputs, own, nullptr},
          nullptr,
          nullptr,
          out + v * kLanes<T>,
          block.stride};
      RowBlockTileFor<Synapse, T, false>(rows, width / kLanes<T>)(tile);
    }
    if (curved) {
      MultiplySlope(before, slope, i * block.stride, rows * block.stride);
    }
  }
  if (before.activation->is_softmax()) {
    RowBlockSoftmaxSlope(before.a, before.delta, layer.inputs, block.stride);
  }
}

template <class Synapse, class T>
constexpr RowBlockPasses<T> RowBlockPassesOf() {
  return {&RowBlockForward<Synapse, T>, &RowBlockGradient<Synapse, T>, &RowBlockBack<Synapse, T>};
}

template <class T>
const RowBlockTable<T>& RowBlockTableOf() {
  static constexpr auto kSynapses = []<class... S>(std::tuple<S...>*) {
    return std::array<RowBlockPasses<T>, sizeof...(S)>{RowBlockPassesOf<S, T>()...};
  }(static_cast<formulas::Synapses*>(nullptr));
  static const RowBlockTable<T> kTable = [] {
    RowBlockTable<T> table{hwy::TargetName(HWY_TARGET), kLanes<T>,          kTileVectors,       &RowBlockGatherRows<T>,
                           &RowBlockLossOf<T>,          &RowBlockReduce<T>, &RowBlockUpdate<T>, kSynapses};
    if constexpr (sizeof(T) == sizeof(float)) {
      table.round = &RoundArrayToBFloat16;
    }
    return table;
  }();
  return kTable;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
