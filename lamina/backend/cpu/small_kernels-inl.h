// Passes of small layers: the register tiles and dot products of the large ones on padded rows, without packing and
// blocks.
#if defined(LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_
#endif

#include <numeric>

#include "lamina/backend/cpu/dots-inl.h"
#include "lamina/backend/cpu/small_kernels.h"
#include "lamina/backend/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// Forward with several partial sums in small tiles: these layers wait for the FMA's latency otherwise.
template <class Term>
struct SmallForwardSum : TermSum<Term> {
  static constexpr bool kOneOrder = false;
};

/// Weight gradient of turned weights: rows are the other operand, columns the delta.
template <class Term>
struct TurnedSlopeSum : SlopeSum<Term> {
  template <class T>
  static HWY_INLINE VecOf<T> Accumulate(VecOf<T> row, VecOf<T> column, VecOf<T> own, VecOf<T> sum) {
    return Term::AccumulateSlope(Pack<T>(column), Pack<T>(own), Pack<T>(row), Pack<T>(sum)).v;
  }
};

template <class Term>
struct SameTiles<SmallForwardSum<Term>, 1> {
  using type = TermSum<Term>;
};
template <int kSplit>
requires(kSplit > 1) struct SameTiles<SmallForwardSum<formulas::ProductTerm>, kSplit> {
  using type = SlopeSum<formulas::ProductTerm>;
};
template <int kSplit>  // either factor may be the row
struct SameTiles<TurnedSlopeSum<formulas::ProductTerm>, kSplit> : SameTiles<SlopeSum<formulas::ProductTerm>, kSplit> {};

// Where a tile of the result lies.
struct SmallPlace {
  int64_t row, rows;
  int64_t column, width;
};

// The tiles of rows × columns: each kTileVectors of columns from top to bottom.
template <class Sum, class T>
HWY_INLINE int64_t SmallTileCount(int64_t rows, int64_t columns) {
  return CeilDivide(columns, kTileColumns<T>) * CeilDivide(rows, Sum::kRows);
}

// result(r, c) of the tiles [begin, end), over whole vectors of columns; finish(tile, place) uses each tile. own(r, c)
// is at own[r * own_stride + c].
template <class Sum, class T, class Finish>
HWY_INLINE void SmallTiles(TileInput<T> in, int64_t rows, int64_t columns, const T* own, int64_t own_stride,
                           int64_t begin, int64_t end, const Finish& finish) {
  HWY_ALIGN T tile[Sum::kRows * kTileColumns<T>];
  HWY_ALIGN T own_tile[Sum::kReadsOwn ? Sum::kRows * kTileColumns<T> : 1];
  const T* const first_row = in.rows;
  const T* const first_column = in.columns;
  const int64_t vectors = CeilDivide(columns, kLanes<T>);
  const int64_t row_tiles = CeilDivide(rows, Sum::kRows);
  for (int64_t t = begin; t < end; ++t) {
    const int64_t v = t / row_tiles * kTileVectors;
    const int64_t r = t % row_tiles * Sum::kRows;
    const int64_t width = std::min<int64_t>(kTileVectors, vectors - v) * kLanes<T>;
    const SmallPlace at{r, std::min<int64_t>(Sum::kRows, rows - r), v * kLanes<T>, width};
    in.columns = first_column + at.column;
    in.rows = first_row + r * in.row_stride;
    if constexpr (Sum::kReadsOwn) {
      for (int64_t i = 0; i < at.rows; ++i) {
        std::memcpy(own_tile + i * width, own + (r + i) * own_stride + at.column,
                    static_cast<size_t>(width) * sizeof(T));
      }
      in.own = own_tile;
    }
    TileFor<Sum, T>(at.rows, width / kLanes<T>)(in, tile, false);
    finish(static_cast<T*>(tile), at);
  }
}

// out[s * out_stride + r] = sum over k < depth of term(x[s * x_stride + k], matrix[r * stride + k]).
template <class Term, class T>
HWY_INLINE void SmallDots(const T* matrix, int64_t rows, int64_t stride, int64_t depth, const T* x, int64_t x_stride,
                          int64_t batch, T* out, int64_t out_stride) {
  for (int64_t r = 0; r < rows; r += kDotOutputs) {
    const int64_t count = std::min<int64_t>(kDotOutputs, rows - r);
    DotInput<T> in{matrix + r * stride, stride, nullptr, x_stride, depth, nullptr, out_stride};
    for (int64_t s = 0; s < batch;) {
      const int64_t samples = batch - s >= kDotSamples ? kDotSamples : 1;
      in.x = x + s * x_stride;
      in.out = out + s * out_stride + r;
      (samples == 1 ? DotFor<Term, T, 1>(count) : DotFor<Term, T, kDotSamples>(count))(in);
      s += samples;
    }
  }
}

// Calls rows(offset, n) for the elements of a batch: all at once, padding included, where that is a formula of ours.
template <class T, class Fn>
HWY_INLINE void ForBatch(const SmallLayer<T>& layer, int64_t batch, const Fn& rows) {
  if (batch == 1 || layer.activation->kind() < 0) {
    for (int64_t i = 0; i < batch; ++i) {
      rows(i * layer.batch_stride, layer.outputs);
    }
  } else {
    rows(0, batch * layer.batch_stride);
  }
}

// Activation::Value() of softmax rows, in vectors. Rows are whole vectors; what is written behind their ends is 0.
template <class T>
HWY_INLINE void SmallSoftmax(const T* z, T* a, int64_t n) {
  const Tag<T> d;
  const auto in_row = [&](int64_t j)
                          HWY_ATTR { return hn::FirstN(d, static_cast<size_t>(std::min(n - j, kLanes<T>))); };
  VecOf<T> most = hn::Set(d, z[0]);
  for (int64_t j = 0; j < n; j += kLanes<T>) {
    most = MaxVec<T>(most, hn::IfThenElse(in_row(j), hn::LoadU(d, z + j), most));
  }
  const VecOf<T> largest = hn::MaxOfLanes(d, most);
  VecOf<T> sums = hn::Zero(d);
  for (int64_t j = 0; j < n; j += kLanes<T>) {
    const VecOf<T> e = hn::IfThenElseZero(in_row(j), ExpVec<T>(hn::Sub(hn::LoadU(d, z + j), largest)));
    hn::StoreU(e, d, a + j);
    sums = hn::Add(sums, e);
  }
  const VecOf<T> sum = hn::SumOfLanes(d, sums);
  for (int64_t j = 0; j < n; j += kLanes<T>) {
    hn::StoreU(hn::Div(hn::LoadU(d, a + j), sum), d, a + j);
  }
}

template <class Synapse, class T>
void SmallForward(const SmallLayer<T>& layer, const T* x, int64_t batch) noexcept {
  using V = VecOf<T>;
  using Sum = SmallForwardSum<typename Synapse::Term>;
  const Tag<T> d;
  T* const z = layer.z != nullptr ? layer.z : layer.a;
  const T* const weights = static_cast<const T*>(layer.weights.value);
  const T* const bias = static_cast<const T*>(layer.bias.value);
  const bool of_ours = layer.activation->kind() >= 0;  // may see what stands behind the ends of rows
  const ValueFn<T> value = ValueFor<T>(*layer.activation);
  // The synapse's finish and the bias, in place, for sums that belong at `row` and `column`.
  const auto finish_row = [&](T* sums, int64_t row, int64_t column, int64_t width) HWY_ATTR {
    T* const distance = layer.distance == nullptr ? nullptr : layer.distance + row * layer.batch_stride + column;
    for (int64_t j = 0; j < width; j += kLanes<T>) {
      const V sum = Synapse::Finish(Pack<T>(hn::LoadU(d, sums + j))).v;
      if (distance != nullptr) {
        hn::StoreU(sum, d, distance + j);
      }
      hn::StoreU(bias == nullptr ? sum : hn::Add(sum, hn::LoadU(d, bias + column + j)), d, sums + j);
    }
  };
  const auto finish_tile = [&](T* tile, const SmallPlace& at) HWY_ATTR {
    const auto store = [&](T* to) HWY_ATTR {
      for (int64_t i = 0; i < at.rows; ++i) {
        for (int64_t j = 0; j < at.width; j += kLanes<T>) {
          hn::StoreU(hn::LoadU(d, tile + i * at.width + j), d, to + (at.row + i) * layer.batch_stride + at.column + j);
        }
      }
    };
    for (int64_t i = 0; i < at.rows; ++i) {
      finish_row(tile + i * at.width, at.row + i, at.column, at.width);
    }
    if (!of_ours || layer.z != nullptr) {
      store(z);
    }
    if (of_ours) {
      value(*layer.activation, tile, tile, at.rows * at.width);
      store(layer.a);
    }
  };
  const bool by_tiles = layer.turned || layer.turned_copy != nullptr;
  if (by_tiles) {
    const T* const turned = layer.turned ? weights : layer.turned_copy;
    const int64_t stride = layer.turned ? layer.stride : layer.copy_stride;
    SmallTiles<Sum, T>({x, layer.x_stride, 1, turned, stride, layer.inputs, nullptr, nullptr}, batch, layer.outputs,
                       nullptr, 0, 0, SmallTileCount<Sum, T>(batch, layer.outputs), finish_tile);
  } else {
    SmallDots<typename Synapse::Term>(weights, layer.outputs, layer.stride, layer.inputs, x, layer.x_stride, batch, z,
                                      layer.batch_stride);
    for (int64_t i = 0; i < batch; ++i) {
      finish_row(z + i * layer.batch_stride, i, 0, layer.batch_stride);
    }
  }
  if (layer.activation->is_softmax()) {
    for (int64_t i = 0; i < batch; ++i) {
      SmallSoftmax(z + i * layer.batch_stride, layer.a + i * layer.batch_stride, layer.outputs);
    }
  } else if (!by_tiles || !of_ours) {
    ForBatch(layer, batch,
             [&](int64_t offset, int64_t n) HWY_ATTR { value(*layer.activation, z + offset, layer.a + offset, n); });
  }
}

template <class Synapse, class T>
void SmallScale(const SmallLayer<T>& layer, int64_t batch) noexcept {
  if constexpr (Synapse::kScalesDelta) {
    const auto scale = [](VecOf<T> g, VecOf<T> at) HWY_ATTR { return Synapse::ScaleDelta(Pack<T>(g), Pack<T>(at)).v; };
    const T* const delta = layer.delta;
    Transform<T>(batch * layer.batch_stride, layer.scaled, scale, delta,
                 Synapse::kNeedsDistance ? static_cast<const T*>(layer.distance) : delta);
  }
}

// The delta that the gradients' sums are over.
template <class T>
HWY_INLINE const T* SmallDelta(const SmallLayer<T>& layer) {
  return layer.scaled != nullptr ? layer.scaled : layer.delta;
}

template <class Synapse, class T>
void SmallInputGradient(const SmallLayer<T>& layer, const SmallLayer<T>& before, int64_t batch) noexcept {
  using Sum = SlopeSum<typename Synapse::Term>;
  const T* const delta = SmallDelta(layer);
  const T* const weights = static_cast<const T*>(layer.weights.value);
  const SlopeFn<T> slope = SlopeFor<T>(before.activation);
  if (layer.turned) {  // products only: sums of delta[j] w[k][j]
    SmallDots<formulas::ProductTerm>(weights, layer.inputs, layer.stride, layer.outputs, delta, layer.batch_stride,
                                     batch, before.delta, before.batch_stride);
    ForBatch(before, batch, [&](int64_t offset, int64_t n) HWY_ATTR {
      T* const g = before.delta + offset;
      slope(*before.activation, before.z == nullptr ? nullptr : before.z + offset, before.a + offset, g, g, n);
    });
    return;
  }
  const bool of_ours = before.activation->kind() >= 0;
  SmallTiles<Sum, T>({delta, layer.batch_stride, 1, weights, layer.stride, layer.outputs, nullptr, nullptr}, batch,
                     layer.inputs, before.a, before.batch_stride, 0, SmallTileCount<Sum, T>(batch, layer.inputs),
                     [&](T* tile, const SmallPlace& at) HWY_ATTR {
                       const int64_t n = of_ours ? at.width : std::min(at.width, layer.inputs - at.column);
                       for (int64_t i = 0; i < at.rows; ++i) {
                         const int64_t offset = (at.row + i) * before.batch_stride + at.column;
                         slope(*before.activation, before.z == nullptr ? nullptr : before.z + offset, before.a + offset,
                               tile + i * at.width, before.delta + offset, n);
                       }
                     });
}

template <class T>
HWY_INLINE void SmallBiasGradient(const SmallLayer<T>& layer, const SmallStep<T>& step) {
  const Tag<T> d;
  const UpdateFn<T> update = UpdateFor<T>(step.rule);
  const T* g = layer.delta;
  if (step.batch != 1) {
    T* const sums = static_cast<T*>(layer.bias.gradient);
    constexpr int64_t kTogether = 4;  // sums wait for each other otherwise
    for (int64_t j = 0; j < layer.batch_stride; j += kTogether * kLanes<T>) {
      VecOf<T> sum[kTogether] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      const int64_t count = std::min(kTogether, (layer.batch_stride - j) / kLanes<T>);
      const T* row = layer.delta + j;
      for (int64_t i = 0; i < step.batch; ++i, row += layer.batch_stride) {
        HWY_UNROLL(4)
        for (int64_t v = 0; v < kTogether; ++v) {
          sum[v] = hn::Add(sum[v], hn::LoadU(d, row + std::min(v, count - 1) * kLanes<T>));
        }
      }
      for (int64_t v = 0; v < count; ++v) {
        hn::StoreU(sum[v], d, sums + j + v * kLanes<T>);
      }
    }
    g = sums;
  }
  update(step.bias_update, {g, 0, 0, 0, 1, layer.outputs}, layer.bias);
}

template <class Synapse, class T>
void SmallWeightGradient(const SmallLayer<T>& layer, const T* x, const SmallStep<T>& step, int64_t begin,
                         int64_t end) noexcept {
  using Sum = SlopeSum<typename Synapse::Term>;
  using TurnedSum = TurnedSlopeSum<typename Synapse::Term>;
  static_assert(Sum::kRows == TurnedSum::kRows);
  const T* const delta = SmallDelta(layer);
  const T* const own = static_cast<const T*>(layer.weights.value);
  const UpdateFn<T> update = UpdateFor<T>(step.rule);
  const int64_t rows = layer.turned ? layer.inputs : layer.outputs;
  const int64_t columns = layer.turned ? layer.outputs : layer.inputs;
  const int64_t tiles = SmallTileCount<Sum, T>(rows, columns);
  const int64_t last = std::min(end, tiles);
  const auto use = [&](T* tile, const SmallPlace& at) HWY_ATTR {
    const int64_t width = std::min(at.width, columns - at.column);
    const int64_t first = at.row * layer.stride + at.column;
    update(step.weight_update, {tile, at.width, first, layer.stride, at.rows, width}, layer.weights);
    if (layer.turned_copy != nullptr && step.rule != nullptr) {
      Transpose(own + first, layer.stride, at.rows, width, layer.turned_copy + at.column * layer.copy_stride + at.row,
                layer.copy_stride);
    }
  };
  if (layer.turned) {
    SmallTiles<TurnedSum, T>({x, 1, layer.x_stride, delta, layer.batch_stride, step.batch, nullptr, nullptr}, rows,
                             columns, own, layer.stride, begin, last, use);
  } else {
    SmallTiles<Sum, T>({delta, 1, layer.batch_stride, x, layer.x_stride, step.batch, nullptr, nullptr}, rows, columns,
                       own, layer.stride, begin, last, use);
  }
  if (end > tiles && layer.bias.value != nullptr) {
    SmallBiasGradient(layer, step);
  }
}

template <class T>
void SmallUpdateByHalves(const SmallLayer<T>& layer, const SmallStep<T>& step, int64_t begin, int64_t end) noexcept {
  const auto add = [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Add(a, b); };
  const UpdateFn<T> update = UpdateFor<T>(step.rule);
  const int64_t rows = layer.turned ? layer.inputs : layer.outputs;
  const int64_t columns = layer.turned ? layer.outputs : layer.inputs;
  const int64_t first = begin * layer.stride;
  T* const g = static_cast<T*>(layer.weights.gradient);
  Transform<T>((end - begin) * layer.stride, g + first, add, static_cast<const T*>(g) + first,
               static_cast<const T*>(layer.more) + first);
  update(step.weight_update, {g + first, layer.stride, first, layer.stride, end - begin, columns}, layer.weights);
  if (layer.turned_copy != nullptr) {
    Transpose(static_cast<const T*>(layer.weights.value) + first, layer.stride, end - begin, columns,
              layer.turned_copy + begin, layer.copy_stride);
  }
  if (end == rows && layer.bias.value != nullptr) {
    T* const bias = static_cast<T*>(layer.bias.gradient);
    Transform<T>(layer.outputs, bias, add, static_cast<const T*>(bias), static_cast<const T*>(layer.bias_more));
    update(step.bias_update, {bias, 0, 0, 0, 1, layer.outputs}, layer.bias);
  }
}

template <class T>
void SmallTurn(const T* from, int64_t from_stride, int64_t rows, int64_t columns, T* to, int64_t to_stride) {
  Transpose(from, from_stride, rows, columns, to, to_stride);
}

template <class Synapse, class T>
constexpr SmallPasses<T> SmallPassesOf() {
  using Slope = SlopeSum<typename Synapse::Term>;
  return {std::lcm<int64_t>(SmallForwardSum<typename Synapse::Term>::kRows, Slope::kRows),
          Slope::kRows,
          &SmallForward<Synapse, T>,
          &SmallScale<Synapse, T>,
          &SmallInputGradient<Synapse, T>,
          &SmallWeightGradient<Synapse, T>};
}

template <class T>
const SmallTable<T>& SmallTableOf() {
  static constexpr auto kSynapses = []<class... S>(std::tuple<S...>*) {
    return std::array<SmallPasses<T>, sizeof...(S)>{SmallPassesOf<S, T>()...};
  }(static_cast<formulas::Synapses*>(nullptr));
  static const SmallTable<T> kTable{
      hwy::TargetName(HWY_TARGET), kLanes<T>, &SmallUpdateByHalves<T>, kTileVectors, &SmallTurn<T>, kSynapses};
  return kTable;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
