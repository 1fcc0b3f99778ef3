// What happens to results while they are hot: bias and activation, slope of the layer before, parameter
// update.
#if defined(LAMINA_BACKEND_CPU_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_EPILOGUE_INL_H_
#undef LAMINA_BACKEND_CPU_EPILOGUE_INL_H_
#else
#define LAMINA_BACKEND_CPU_EPILOGUE_INL_H_
#endif

#include <limits>

#include "lamina/backend/cpu/curves-inl.h"
#include "lamina/backend/cpu/pack-inl.h"
#include "lamina/backend/cpu/tile-inl.h"
#include "lamina/backend/cpu/zeros-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// n numbers from z on, a vector at a time: fn(vector, first element, elements). `rest` fills the last vector.
template <class T, class Fn>
HWY_INLINE void ForVectors(const T* z, int64_t n, T rest, const Fn& fn) {
  const Tag<T> d;
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    fn(hn::LoadU(d, z + i), i, kLanes<T>);
  }
  if (i < n) {
    const auto some = hn::FirstN(d, static_cast<size_t>(n - i));
    fn(hn::IfThenElse(some, LoadTail<T>(z + i, n - i), hn::Set(d, rest)), i, n - i);
  }
}

/// Activation::Value() of softmax, in place or not.
template <class T>
HWY_INLINE void SoftmaxRow(const T* z, T* a, int64_t n) {
  const Tag<T> d;
  constexpr T kLeast = -std::numeric_limits<T>::infinity();
  auto most = hn::Set(d, kLeast);
  ForVectors<T>(z, n, kLeast, [&](VecOf<T> v, int64_t, int64_t) HWY_ATTR { most = MaxVec<T>(most, v); });
  most = hn::MaxOfLanes(d, most);
  auto sum = hn::Zero(d);
  ForVectors<T>(z, n, kLeast, [&](VecOf<T> v, int64_t i, int64_t count) HWY_ATTR {
    const auto e = ExpVec<T>(hn::Sub(v, most));
    sum = hn::Add(sum, e);
    if (count == kLanes<T>) {
      hn::StoreU(e, d, a + i);
    } else {
      StoreTail<T>(e, a + i, count);
    }
  });
  sum = hn::SumOfLanes(d, sum);
  Transform<T>(
      n, a, [&](VecOf<T> e) HWY_ATTR { return hn::Div(e, sum); }, static_cast<const T*>(a));
}

// The same, to the bit, of fewer numbers than a vector's lanes. The exponentials stay in a register. What is stored
// with a mask can be loaded again only when it has left the store buffer.
template <class T>
HWY_INLINE void SoftmaxOfVector(const T* z, T* a, int64_t n) {
  const Tag<T> d;
  const auto least = hn::Set(d, -std::numeric_limits<T>::infinity());
  const auto some = hn::FirstN(d, static_cast<size_t>(n));
  const auto v = hn::IfThenElse(some, LoadTail<T>(z, n), least);
  const auto e = ExpVec<T>(hn::Sub(v, hn::MaxOfLanes(d, v)));
  StoreTail<T>(hn::Div(e, hn::SumOfLanes(d, e)), a, n);
}

/// Row-wise part of softmax for rows [begin, end), in place in a or from z. kFew: quicker for few outputs.
template <class T, bool kFew = false>
void SoftmaxRows(const MatrixView& z, const MatrixView& a, int64_t begin, int64_t end) {
  const MatrixView& from = z.empty() ? a : z;
  if constexpr (kFew) {
    for (; a.cols < kLanes<T> && begin < end; ++begin) {
      SoftmaxOfVector<T>(from.Row<T>(begin), a.Row<T>(begin), a.cols);
    }
  }
  for (int64_t i = begin; i < end; ++i) {
    SoftmaxRow<T>(from.Row<T>(i), a.Row<T>(i), a.cols);
  }
}

/// A rows × n part of gradients: row i at g + i * g_stride belongs to the parameters from offset + i * stride
/// on.
template <class T>
struct GradientPart {
  const T* g;
  int64_t g_stride;
  int64_t offset;
  int64_t stride;
  int64_t rows;
  int64_t n;
};

/// Uses a part of the gradients.
template <class T>
using UpdateFn = void (*)(const UpdateNumbers<T>&, const GradientPart<T>&, const ParameterArrays&);

template <class T>
void StoreGradient(const UpdateNumbers<T>&, const GradientPart<T>& part, const ParameterArrays& to) {
  for (int64_t i = 0; i < part.rows; ++i) {
    Transform<T>(
        part.n, static_cast<T*>(to.gradient) + part.offset + i * part.stride, [](VecOf<T> v) HWY_ATTR { return v; },
        part.g + i * part.g_stride);
  }
}

// Rule U over `n` parameters from `offset` on, by whole vectors and the rest; the first states are loaded and stored
// back. gradient(i, left) is the gradient from i on; only `left` elements may be read.
template <class U, class T, class Gradient, size_t... kState>
HWY_INLINE void UpdateRow(const UpdateNumbers<T>& numbers, int64_t n, const Gradient& gradient,
                          const ParameterArrays& to, int64_t offset, std::index_sequence<kState...>) {
  using P = Pack<T>;
  const Tag<T> d;
  T* const w = static_cast<T*>(to.value) + offset;
  [[maybe_unused]] T* const states[] = {static_cast<T*>(to.state[kState]) + offset..., nullptr};
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    P weight(hn::LoadU(d, w + i));
    [[maybe_unused]] P state[] = {P(hn::LoadU(d, states[kState] + i))..., weight};
    U::Step(numbers, P(gradient(i, kLanes<T>)), weight, state[kState]...);
    hn::StoreU(weight.v, d, w + i);
    (hn::StoreU(state[kState].v, d, states[kState] + i), ...);
  }
  if (const int64_t left = n - i; left > 0) {
    P weight(LoadTail<T>(w + i, left));
    [[maybe_unused]] P state[] = {P(LoadTail<T>(states[kState] + i, left))..., weight};
    U::Step(numbers, P(gradient(i, left)), weight, state[kState]...);
    StoreTail<T>(weight.v, w + i, left);
    (StoreTail<T>(state[kState].v, states[kState] + i, left), ...);
  }
}

// Rule U over a part.
template <class U, class T, class States>
HWY_INLINE void UpdatePart(const UpdateNumbers<T>& numbers, const GradientPart<T>& part, const ParameterArrays& to,
                           States states) {
  const Tag<T> d;
  const UpdateNumbers<T> fixed = numbers;  // no store to a parameter can change it
  for (int64_t row = 0; row < part.rows; ++row) {
    const T* const g = part.g + row * part.g_stride;
    const auto gradient = [g, d](int64_t i, int64_t left)
                              HWY_ATTR { return left < kLanes<T> ? LoadTail<T>(g + i, left) : hn::LoadU(d, g + i); };
    UpdateRow<U>(fixed, part.n, gradient, to, part.offset + row * part.stride, states);
  }
}

template <class U, int kStates, class T>
void UpdateSpan(const UpdateNumbers<T>& numbers, const GradientPart<T>& part, const ParameterArrays& to) {
  UpdatePart<U>(numbers, part, to, std::make_index_sequence<kStates>());
}

/// The update by a rule; without one the gradient is stored.
template <class T>
UpdateFn<T> UpdateFor(const UpdateRule* rule) {
  struct Forms {
    UpdateFn<T> plain, with_momentum;
  };
  static constexpr auto kTable = []<class... U>(std::tuple<U...>*) {
    return std::array<Forms, sizeof...(U)>{
        Forms{&UpdateSpan<U, StatesOf<U>(false), T>, &UpdateSpan<U, StatesOf<U>(true), T>}...};
  }(static_cast<formulas::Updates*>(nullptr));
  if (rule == nullptr) {
    return &StoreGradient<T>;
  }
  const Forms& forms = kTable[static_cast<size_t>(rule->kind)];
  return rule->momentum == 0 ? forms.plain : forms.with_momentum;
}

/// sums[i] = Finish(sums[i]).
template <class Synapse, class T>
HWY_INLINE void FinishSums(T* sums, int64_t n) {
  if constexpr (!std::is_base_of_v<formulas::PlainSum, Synapse>) {
    Transform<T>(
        n, sums, [](VecOf<T> v) HWY_ATTR { return Synapse::Finish(Pack<T>(v)).v; }, static_cast<const T*>(sums));
  }
}

/// Forward. Turned: rows are outputs and columns samples, and the tile is turned as it leaves; else rows are samples
/// and columns outputs.
template <class Synapse, class T, bool kTurned = true>
struct ForwardFinish {
  static constexpr int kRowTiles = kTurned ? 2 : 1;  // two tiles of 8 outputs fill a cache line of each sample

  const ForwardArgs* args;
  const Activation* activation;
  ValueFn<T> value;
  const MatrixView* slopes = nullptr;  // where they are kept

  // Asks for the lines that a turned tile will be stored to, one per sample. Into the second level: with the usual
  // strides of some KiB all of them fall into one or two sets of the first.
  void Prefetch(const TilePlace& at) const {
    KeepCalls();
    for (int64_t j = 0; kTurned && j < at.columns; ++j) {
      __builtin_prefetch(args->a.Row<T>(at.column + j) + at.row, 0, 2);
    }
  }
  void operator()(T* tile, const TilePlace& at) const {
    FinishSums<Synapse>(tile, at.rows * at.width);
    if constexpr (!kTurned) {
      if (slopes == nullptr && args->z.empty() && args->distance.empty()) {
        const auto* const bias = static_cast<const T*>(args->bias);
        const RowsFn<T> rows = RowsFor<T>(*activation);
        rows(*activation, {tile, at.width, args->a.Row<T>(at.row) + at.column, args->a.stride, at.rows, at.columns,
                           bias == nullptr ? bias : bias + at.column});
        return;
      }
    }
    if (!args->distance.empty()) {
      Store(tile, at, args->distance);
    }
    if (args->bias != nullptr) {
      AddBias(tile, at);
    }
    if (!args->z.empty()) {
      Store(tile, at, args->z);
    }
    if (slopes != nullptr) {
      HWY_ALIGN T found[kRowTiles * kPickingRows * kTileColumns<T>];
      const BothFn<T> both = BothFor<T>(*activation);
      both(*activation, tile, tile, found, at.rows * at.width);
      Store(found, at, *slopes);
    } else {
      value(*activation, tile, tile, at.rows * at.width);
    }
    Store(tile, at, args->a);
  }

 private:
  void AddBias(T* tile, const TilePlace& at) const {
    const Tag<T> d;
    const auto* const bias = static_cast<const T*>(args->bias) + (kTurned ? at.row : at.column);
    for (int64_t j = 0; j < at.width; j += kLanes<T>) {
      auto b = hn::Zero(d);
      if constexpr (!kTurned) {
        b = at.columns - j < kLanes<T> ? LoadTail<T>(bias + j, at.columns - j) : hn::LoadU(d, bias + j);
      }
      for (int64_t i = 0; i < at.rows; ++i) {
        if constexpr (kTurned) {
          b = hn::Set(d, bias[i]);
        }
        T* const p = tile + i * at.width + j;
        hn::Store(hn::Add(hn::Load(d, p), b), d, p);
      }
    }
  }
  static void Store(const T* tile, const TilePlace& at, const MatrixView& to) {
    if constexpr (kTurned) {
      Transpose(tile, at.width, at.rows, at.columns, to.Row<T>(at.column) + at.row, to.stride);
    } else {
      for (int64_t i = 0; i < at.rows; ++i) {
        Transform<T>(
            at.columns, to.Row<T>(at.row + i) + at.column, [](VecOf<T> v) HWY_ATTR { return v; }, tile + i * at.width);
      }
    }
  }
};

/// Input gradient: rows are samples, columns inputs.
template <class T>
struct SlopeFinish {
  static constexpr int kRowTiles = 1;

  const InputGradientArgs* args;
  SlopeFn<T> slope;                         // null: none
  const ConstMatrixView* slopes = nullptr;  // those that were kept

  void Prefetch(const TilePlace&) const {}
  void operator()(T* tile, const TilePlace& at) const {
    for (int64_t i = 0; i < at.rows; ++i) {
      const T* g = tile + i * at.width;
      T* out = args->out.Row<T>(at.row + i) + at.column;
      if (slopes != nullptr) {
        Transform<T>(
            at.columns, out, [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Mul(a, b); }, g,
            slopes->Row<T>(at.row + i) + at.column);
        continue;
      }
      if (slope == nullptr) {
        std::memcpy(out, g, static_cast<size_t>(at.columns) * sizeof(T));
        continue;
      }
      const ConstMatrixView& z = args->previous_z;
      slope(*args->previous, z.empty() ? nullptr : z.Row<T>(at.row + i) + at.column,
            args->x.Row<T>(at.row + i) + at.column, g, out, at.columns);
    }
  }
};

/// Computes a tile of gradients and uses each sum while it is in a register: for the weights or gradients at `to`,
/// `stride` a row.
template <class T>
using TileInPlaceFn = void (*)(const TileInput<T>&, const UpdateNumbers<T>&, T* to, int64_t stride);

/// For Sum::kRows rows and 1, 2, ... vectors; where zeros are left out, for kPickingRows rows and one vector.
template <class T>
struct TilesInPlace {
  std::array<TileInPlaceFn<T>, kTileVectors> dense;
  TileInPlaceFn<T> picked;
};

// What "update" is where there is no rule.
struct StoredGradient {
  static constexpr int kStates = 0;
  template <class C, class P>
  static void Step(const C&, P g, P& stored) {
    stored = g;
  }
};

template <class U, class T>
HWY_INLINE void UpdateVector(const UpdateNumbers<T>& numbers, VecOf<T> g, T* to) {
  const Tag<T> d;
  Pack<T> weight(hn::LoadU(d, to));
  U::Step(numbers, Pack<T>(g), weight);
  hn::StoreU(weight.v, d, to);
}

template <class Sum, class U, class T, int kVectors>
HWY_NOINLINE void TileInPlace(const TileInput<T>& in, const UpdateNumbers<T>& numbers, T* to, int64_t stride) {
  const UpdateNumbers<T> fixed = numbers;  // no store to a parameter can change it
  SumTile<Sum, T, Sum::kRows, kVectors>(in, [&fixed, to, stride](int i, int j, VecOf<T> g) HWY_ATTR {
    UpdateVector<U>(fixed, g, to + i * stride + j * kLanes<T>);
  });
}

template <class Sum, class U, class T>
HWY_NOINLINE void PickedTileInPlace(const TileInput<T>& in, const UpdateNumbers<T>& numbers, T* to, int64_t stride) {
  const UpdateNumbers<T> fixed = numbers;
  SumPickedTile<Sum, T, kPickingRows>(
      in, [&fixed, to, stride](int i, int, VecOf<T> g) HWY_ATTR { UpdateVector<U>(fixed, g, to + i * stride); });
}

// None for a rule that keeps a state: what that costs hides what is spared here.
template <class Sum, class U, class T>
constexpr TilesInPlace<T> TilesInPlaceOf() {
  TilesInPlace<T> tiles{};
  if constexpr (StatesOf<U>(false) == 0) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      tiles = {{&TileInPlace<Sum, U, T, static_cast<int>(I) + 1>...}, &PickedTileInPlace<Sum, U, T>};
    }
    (std::make_index_sequence<static_cast<size_t>(kTileVectors)>{});
  }
  return tiles;
}

/// For the update by a rule, or without one for storing gradients; null where there are none.
template <class Sum, class T>
const TilesInPlace<T>* TilesInPlaceFor(const UpdateRule* rule) {
  static constexpr auto kTable = []<class... U>(std::tuple<U...>*) {
    return std::array<TilesInPlace<T>, sizeof...(U)>{TilesInPlaceOf<Sum, U, T>()...};
  }(static_cast<formulas::Updates*>(nullptr));
  static constexpr TilesInPlace<T> kStored = TilesInPlaceOf<Sum, StoredGradient, T>();
  if (rule == nullptr) {
    return &kStored;
  }
  const TilesInPlace<T>& tiles = kTable[static_cast<size_t>(rule->kind)];
  return rule->momentum == 0 && tiles.picked != nullptr ? &tiles : nullptr;
}

/// Weight gradient: rows are outputs, columns inputs.
template <class T>
struct UpdateFinish {
  static constexpr int kRowTiles = 1;

  const ParameterArrays* arrays;
  const UpdateNumbers<T>* numbers;
  UpdateFn<T> update;
  int64_t inputs;
  T* written;  // the weights, or their gradient where no rule updates them
  const TilesInPlace<T>* in_place = nullptr;

  // Asks for what will be written before the tile is computed: it comes from the third-level cache or memory.
  void Prefetch(const TilePlace& at) const {
    KeepCalls();
    for (int64_t i = 0; i < at.rows; ++i) {
      for (int64_t j = 0; j < at.columns; j += kLineElements<T>) {
        __builtin_prefetch(written + (at.row + i) * inputs + at.column + j, 1);
      }
    }
  }
  void operator()(T* tile, const TilePlace& at) const {
    update(*numbers, {tile, at.width, at.row * inputs + at.column, inputs, at.rows, at.columns}, *arrays);
  }
  void Finish(TileInPlaceFn<T> tile, const TileInput<T>& in, int64_t row, int64_t column) const {
    tile(in, *numbers, written + row * inputs + column, inputs);
  }
};

template <class T>
UpdateFinish<T> UpdateFinishOf(const WeightGradientTask<T>& task) {
  const WeightGradientArgs& args = *task.args;
  return {&args.weights, &task.weight_update, UpdateFor<T>(args.rule), args.x.cols,
          static_cast<T*>(args.rule == nullptr ? args.weights.gradient : args.weights.value)};
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
