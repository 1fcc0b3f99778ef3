// Passes of small layers: the register tiles and dot products of the large ones on padded rows, without packing,
// blocks and threads.
#if defined(LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_SMALL_KERNELS_INL_H_
#endif

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

// Where a tile of the result lies.
struct SmallPlace {
  int64_t row, rows;
  int64_t column, width;
};

// result(r, c) over all rows and whole vectors of columns; finish(tile, place) uses each tile. own(r, c) is at
// own[r * own_stride + c].
template <class Sum, class T, class Finish>
HWY_INLINE void SmallTiles(TileInput<T> in, int64_t rows, int64_t columns, const T* own, int64_t own_stride,
                           const Finish& finish) {
  HWY_ALIGN T tile[Sum::kRows * kTileColumns<T>];
  HWY_ALIGN T own_tile[Sum::kReadsOwn ? Sum::kRows * kTileColumns<T> : 1];
  const T* const first_row = in.rows;
  const T* const first_column = in.columns;
  const int64_t vectors = CeilDivide(columns, kLanes<T>);
  for (int64_t v = 0; v < vectors; v += kTileVectors) {
    const int64_t width = std::min<int64_t>(kTileVectors, vectors - v) * kLanes<T>;
    in.columns = first_column + v * kLanes<T>;
    for (int64_t r = 0; r < rows; r += Sum::kRows) {
      const SmallPlace at{r, std::min<int64_t>(Sum::kRows, rows - r), v * kLanes<T>, width};
      in.rows = first_row + r * in.row_stride;
      if constexpr (Sum::kReadsOwn) {
        for (int64_t i = 0; i < at.rows; ++i) {
          std::memcpy(own_tile + i * width, own + (r + i) * own_stride + at.column,
                      static_cast<size_t>(width) * sizeof(T));
        }
        in.own = own_tile;
      }
      TileFor<Sum, T>(at.rows, width / kLanes<T>)(in, tile, false);
      finish(static_cast<const T*>(tile), at);
    }
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

template <class Synapse, class T>
void SmallForward(const SmallLayer<T>& layer, const T* x, int64_t batch) noexcept {
  using V = VecOf<T>;
  using Term = typename Synapse::Term;
  const Tag<T> d;
  T* const z = layer.z != nullptr ? layer.z : layer.a;
  const T* const weights = static_cast<const T*>(layer.weights.value);
  const T* const bias = static_cast<const T*>(layer.bias.value);
  const auto finish = [&](V sum, T* distance) HWY_ATTR {
    const V finished = Synapse::Finish(Pack<T>(sum)).v;
    if (distance != nullptr) {
      hn::StoreU(finished, d, distance);
    }
    return finished;
  };
  const auto finish_row = [&](const T* sums, int64_t row, int64_t column, int64_t width) HWY_ATTR {
    const int64_t offset = row * layer.batch_stride + column;
    for (int64_t j = 0; j < width; j += kLanes<T>) {
      const V sum = finish(hn::LoadU(d, sums + j), layer.distance == nullptr ? nullptr : layer.distance + offset + j);
      hn::StoreU(bias == nullptr ? sum : hn::Add(sum, hn::LoadU(d, bias + column + j)), d, z + offset + j);
    }
  };
  if (layer.turned) {
    SmallTiles<SmallForwardSum<Term>, T>({x, layer.x_stride, 1, weights, layer.stride, layer.inputs, nullptr}, batch,
                                         layer.outputs, nullptr, 0, [&](const T* tile, const SmallPlace& at) HWY_ATTR {
                                           for (int64_t i = 0; i < at.rows; ++i) {
                                             finish_row(tile + i * at.width, at.row + i, at.column, at.width);
                                           }
                                         });
  } else {
    SmallDots<Term>(weights, layer.outputs, layer.stride, layer.inputs, x, layer.x_stride, batch, z,
                    layer.batch_stride);
    for (int64_t i = 0; i < batch; ++i) {
      finish_row(z + i * layer.batch_stride, i, 0, layer.batch_stride);
    }
  }
  if (layer.activation->is_softmax()) {
    for (int64_t i = 0; i < batch; ++i) {
      layer.activation->Value(z + i * layer.batch_stride, layer.a + i * layer.batch_stride, layer.outputs);
    }
    return;
  }
  const ValueFn<T> value = ValueFor<T>(*layer.activation);
  ForBatch(layer, batch,
           [&](int64_t offset, int64_t n) HWY_ATTR { value(*layer.activation, z + offset, layer.a + offset, n); });
}

// The delta that the gradients' sums are over: scaled where the synapse asks for it.
template <class Synapse, class T>
HWY_INLINE const T* SmallDelta(const SmallLayer<T>& layer, int64_t batch) {
  if constexpr (!Synapse::kScalesDelta) {
    return layer.delta;
  } else {
    const auto scale = [](VecOf<T> g, VecOf<T> at) HWY_ATTR { return Synapse::ScaleDelta(Pack<T>(g), Pack<T>(at)).v; };
    const T* const delta = layer.delta;
    Transform<T>(batch * layer.batch_stride, layer.scaled, scale, delta,
                 Synapse::kNeedsDistance ? static_cast<const T*>(layer.distance) : delta);
    return layer.scaled;
  }
}

template <class Synapse, class T>
void SmallInputGradient(const SmallLayer<T>& layer, const SmallLayer<T>& before, int64_t batch) noexcept {
  using Term = typename Synapse::Term;
  const T* const delta = SmallDelta<Synapse>(layer, batch);
  const T* const weights = static_cast<const T*>(layer.weights.value);
  if (layer.turned) {  // products only: sums of delta[j] w[k][j]
    SmallDots<formulas::ProductTerm>(weights, layer.inputs, layer.stride, layer.outputs, delta, layer.batch_stride,
                                     batch, before.delta, before.batch_stride);
  } else {
    SmallTiles<SlopeSum<Term>, T>({delta, layer.batch_stride, 1, weights, layer.stride, layer.outputs, nullptr}, batch,
                                  layer.inputs, before.a, before.batch_stride,
                                  [&](const T* tile, const SmallPlace& at) {
                                    for (int64_t i = 0; i < at.rows; ++i) {
                                      std::memcpy(before.delta + (at.row + i) * before.batch_stride + at.column,
                                                  tile + i * at.width, static_cast<size_t>(at.width) * sizeof(T));
                                    }
                                  });
  }
  const SlopeFn<T> slope = SlopeFor<T>(before.activation);
  ForBatch(before, batch, [&](int64_t offset, int64_t n) HWY_ATTR {
    T* const g = before.delta + offset;
    slope(*before.activation, before.z == nullptr ? nullptr : before.z + offset, before.a + offset, g, g, n);
  });
}

template <class T>
HWY_INLINE void SmallBiasGradient(const SmallLayer<T>& layer, const SmallStep<T>& step) {
  const UpdateFn<T> update = UpdateFor<T>(step.rule);
  const T* g = layer.delta;
  if (step.batch != 1) {
    T* const sums = static_cast<T*>(layer.bias.gradient);
    std::fill_n(sums, layer.outputs, T(0));
    const auto add = [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Add(a, b); };
    for (int64_t i = 0; i < step.batch; ++i) {
      Transform<T>(layer.outputs, sums, add, static_cast<const T*>(sums), layer.delta + i * layer.batch_stride);
    }
    g = sums;
  }
  update(step.bias_update, {g, 0, 0, 0, 1, layer.outputs}, layer.bias);
}

template <class Synapse, class T>
void SmallWeightGradient(const SmallLayer<T>& layer, const T* x, const SmallStep<T>& step) noexcept {
  using Term = typename Synapse::Term;
  const T* const delta = SmallDelta<Synapse>(layer, step.batch);
  const T* const own = static_cast<const T*>(layer.weights.value);
  const UpdateFn<T> update = UpdateFor<T>(step.rule);
  const int64_t columns = layer.turned ? layer.outputs : layer.inputs;
  const auto use = [&](const T* tile, const SmallPlace& at) {
    update(step.weight_update,
           {tile, at.width, at.row * layer.stride + at.column, layer.stride, at.rows,
            std::min(at.width, columns - at.column)},
           layer.weights);
  };
  if (layer.turned) {
    SmallTiles<TurnedSlopeSum<Term>, T>({x, 1, layer.x_stride, delta, layer.batch_stride, step.batch, nullptr},
                                        layer.inputs, columns, own, layer.stride, use);
  } else {
    SmallTiles<SlopeSum<Term>, T>({delta, 1, layer.batch_stride, x, layer.x_stride, step.batch, nullptr}, layer.outputs,
                                  columns, own, layer.stride, use);
  }
  if (layer.bias.value != nullptr) {
    SmallBiasGradient(layer, step);
  }
}

template <class T>
const SmallTable<T>& SmallTableOf() {
  static constexpr auto kSynapses = []<class... S>(std::tuple<S...>*) {
    return std::array<SmallPasses<T>, sizeof...(S)>{
        SmallPasses<T>{&SmallForward<S, T>, &SmallInputGradient<S, T>, &SmallWeightGradient<S, T>}...};
  }(static_cast<formulas::Synapses*>(nullptr));
  static const SmallTable<T> kTable{hwy::TargetName(HWY_TARGET), kLanes<T>, kSynapses};
  return kTable;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
