// What happens to results while they are hot: bias and activation, slope of the layer before, parameter
// update.
#if defined(LAMINA_BACKEND_CPU_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_EPILOGUE_INL_H_
#undef LAMINA_BACKEND_CPU_EPILOGUE_INL_H_
#else
#define LAMINA_BACKEND_CPU_EPILOGUE_INL_H_
#endif

#include "lamina/backend/cpu/pack-inl.h"
#include "lamina/backend/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// a[i] = value(z[i]); in place is allowed.
template <class T>
using ValueFn = void (*)(const Activation&, const T* z, T* a, int64_t n);
/// out[i] = g[i] * slope(z[i], a[i]); z may be null where the slope does not need it.
template <class T>
using SlopeFn = void (*)(const Activation&, const T* z, const T* a, const T* g, T* out, int64_t n);

// The formula with the activation's parameters.
template <class F>
HWY_INLINE F FormulaOf(const Activation& activation) {
  F formula{};
  for (size_t i = 0; i < F::kParameters.size(); ++i) {
    formula.*(F::kParameters[i].member) = activation.parameters()[i];
  }
  return formula;
}

template <class F, class T>
void ValueSpan(const Activation& activation, const T* z, T* a, int64_t n) {
  const F formula = FormulaOf<F>(activation);
  Transform<T>(
      n, a, [&](VecOf<T> v) HWY_ATTR { return formula.Value(Pack<T>(v)).v; }, z);
}

template <class F, class T>
void SlopeSpan(const Activation& activation, const T* z, const T* a, const T* g, T* out, int64_t n) {
  const F formula = FormulaOf<F>(activation);
  const auto product = [&](VecOf<T> gradient, VecOf<T> value, VecOf<T> input)
                           HWY_ATTR { return hn::Mul(gradient, formula.Slope(Pack<T>(input), Pack<T>(value)).v); };
  if constexpr (F::kSlopeNeedsInput) {
    Transform<T>(n, out, product, g, a, z);
  } else {
    Transform<T>(
        n, out, [&](VecOf<T> gradient, VecOf<T> value) HWY_ATTR { return product(gradient, value, value); }, g, a);
  }
}

// A user's own activation: its scalar loops.
template <class T>
void CustomValueSpan(const Activation& activation, const T* z, T* a, int64_t n) {
  activation.Value(z, a, n);
}

template <class T>
void CustomSlopeSpan(const Activation& activation, const T* z, const T* a, const T* g, T* out, int64_t n) {
  std::memmove(out, g, static_cast<size_t>(n) * sizeof(T));
  activation.MultiplySlope(z, a, out, n);
}

/// Softmax is left to SoftmaxRows: identity.
template <class T>
ValueFn<T> ValueFor(const Activation& activation) {
  static constexpr auto kTable = []<class... F>(std::tuple<F...>*) {
    return std::array<ValueFn<T>, sizeof...(F)>{&ValueSpan<F, T>...};
  }(static_cast<formulas::BuiltinActivations*>(nullptr));
  if (activation.kind() == Activation::kCustom) {
    return &CustomValueSpan<T>;
  }
  return kTable[activation.is_softmax() ? 0 : static_cast<size_t>(activation.kind())];
}

/// No activation before (null): the slope of identity.
template <class T>
SlopeFn<T> SlopeFor(const Activation* activation) {
  static constexpr auto kTable = []<class... F>(std::tuple<F...>*) {
    return std::array<SlopeFn<T>, sizeof...(F)>{&SlopeSpan<F, T>...};
  }(static_cast<formulas::BuiltinActivations*>(nullptr));
  if (activation->kind() == Activation::kCustom || activation->is_softmax()) {
    return &CustomSlopeSpan<T>;
  }
  return kTable[static_cast<size_t>(activation->kind())];
}

/// Row-wise part of softmax for rows [begin, end), in place in a or from z.
template <class T>
void SoftmaxRows(const Activation& activation, const MatrixView& z, const MatrixView& a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    activation.Value(z.empty() ? a.Row<T>(i) : z.Row<T>(i), a.Row<T>(i), a.cols);
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
using UpdateFn = void (*)(const UpdateConstants<T>&, const GradientPart<T>&, const ParameterArrays&);

template <class T>
void StoreGradient(const UpdateConstants<T>&, const GradientPart<T>& part, const ParameterArrays& to) {
  for (int64_t i = 0; i < part.rows; ++i) {
    Transform<T>(
        part.n, static_cast<T*>(to.gradient) + part.offset + i * part.stride, [](VecOf<T> v) HWY_ATTR { return v; },
        part.g + i * part.g_stride);
  }
}

// Calls step(g, w, v, s) for whole vectors and row ends; w and the first kStates of v, s are loaded and
// stored back.
template <class T, int kStates, class Step>
HWY_INLINE void UpdatePart(const GradientPart<T>& part, const ParameterArrays& to, const Step& step) {
  const Tag<T> d;
  for (int64_t row = 0; row < part.rows; ++row) {
    const T* g = part.g + row * part.g_stride;
    const int64_t offset = part.offset + row * part.stride;
    T* w = static_cast<T*>(to.value) + offset;
    T* v = kStates > 0 ? static_cast<T*>(to.state0) + offset : nullptr;
    T* s = kStates > 1 ? static_cast<T*>(to.state1) + offset : nullptr;
    int64_t i = 0;
    for (; i + kLanes<T> <= part.n; i += kLanes<T>) {
      auto wv = hn::LoadU(d, w + i);
      auto vv = kStates > 0 ? hn::LoadU(d, v + i) : hn::Zero(d);
      auto sv = kStates > 1 ? hn::LoadU(d, s + i) : hn::Zero(d);
      step(hn::LoadU(d, g + i), &wv, &vv, &sv);
      hn::StoreU(wv, d, w + i);
      if constexpr (kStates > 0) {
        hn::StoreU(vv, d, v + i);
      }
      if constexpr (kStates > 1) {
        hn::StoreU(sv, d, s + i);
      }
    }
    if (const int64_t left = part.n - i; left > 0) {
      auto wv = LoadTail<T>(w + i, left);
      auto vv = kStates > 0 ? LoadTail<T>(v + i, left) : hn::Zero(d);
      auto sv = kStates > 1 ? LoadTail<T>(s + i, left) : hn::Zero(d);
      step(LoadTail<T>(g + i, left), &wv, &vv, &sv);
      StoreTail<T>(wv, w + i, left);
      if constexpr (kStates > 0) {
        StoreTail<T>(vv, v + i, left);
      }
      if constexpr (kStates > 1) {
        StoreTail<T>(sv, s + i, left);
      }
    }
  }
}

template <class T>
void UpdateSgd(const UpdateConstants<T>& c, const GradientPart<T>& part, const ParameterArrays& to) {
  using V = VecOf<T>;
  const Tag<T> d;
  const auto eta = hn::Set(d, c.eta);
  const auto lambda = hn::Set(d, c.lambda);
  UpdatePart<T, 0>(part, to,
                   [&](V g, V* w, V*, V*) HWY_ATTR { *w = hn::NegMulAdd(eta, hn::MulAdd(lambda, *w, g), *w); });
}

// v <- alpha v - eta (g + lambda w); w <- w + v, or with Nesterov's look-ahead w <- w + alpha v - eta (g +
// lambda w).
template <class T, bool kNesterov>
void UpdateMomentum(const UpdateConstants<T>& c, const GradientPart<T>& part, const ParameterArrays& to) {
  using V = VecOf<T>;
  const Tag<T> d;
  const auto eta = hn::Set(d, c.eta);
  const auto alpha = hn::Set(d, c.alpha);
  const auto lambda = hn::Set(d, c.lambda);
  UpdatePart<T, 1>(part, to, [&](V g, V* w, V* v, V*) HWY_ATTR {
    const auto step = hn::Mul(eta, hn::MulAdd(lambda, *w, g));
    *v = hn::MulSub(alpha, *v, step);
    *w = kNesterov ? hn::Add(*w, hn::MulSub(alpha, *v, step)) : hn::Add(*w, *v);
  });
}

template <class T>
void UpdateAdam(const UpdateConstants<T>& c, const GradientPart<T>& part, const ParameterArrays& to) {
  using V = VecOf<T>;
  const Tag<T> d;
  const auto rest1 = hn::Set(d, c.rest1);
  const auto rest2 = hn::Set(d, c.rest2);
  const auto beta1 = hn::Set(d, c.beta1);
  const auto beta2 = hn::Set(d, c.beta2);
  UpdatePart<T, 2>(part, to, [&](V g, V* w, V* v, V* s) HWY_ATTR {
    const auto gradient = hn::MulAdd(hn::Set(d, c.lambda), *w, g);
    *v = hn::MulAdd(beta1, *v, hn::Mul(rest1, gradient));
    *s = hn::MulAdd(beta2, *s, hn::Mul(rest2, hn::Mul(gradient, gradient)));
    const auto below = hn::MulAdd(hn::Sqrt(*s), hn::Set(d, c.root), hn::Set(d, c.epsilon));
    *w = hn::Sub(*w, hn::Div(hn::Mul(hn::Set(d, c.rate), *v), below));
  });
}

template <class T>
UpdateFn<T> UpdateFor(const UpdateRule* rule, const ParameterArrays& arrays) {
  if (rule == nullptr) {
    return &StoreGradient<T>;
  }
  if (rule->kind == UpdateKind::kAdam) {
    return &UpdateAdam<T>;
  }
  if (arrays.state0 == nullptr) {
    return &UpdateSgd<T>;
  }
  return rule->kind == UpdateKind::kNesterov ? &UpdateMomentum<T, true> : &UpdateMomentum<T, false>;
}

/// sums[i] = Finish(sums[i]).
template <class Synapse, class T>
HWY_INLINE void FinishSums(T* sums, int64_t n) {
  if constexpr (!std::is_base_of_v<formulas::PlainSum, Synapse>) {
    Transform<T>(
        n, sums, [](VecOf<T> v) HWY_ATTR { return Synapse::Finish(Pack<T>(v)).v; }, static_cast<const T*>(sums));
  }
}

/// Where a tile of the result lies.
struct TilePlace {
  int64_t row, rows;
  int64_t column, columns;
  int64_t width;  // of a row of the tile in memory, in elements: columns rounded up to whole vectors
};

/// Forward: rows are outputs and columns samples, so the tile is turned as it leaves.
template <class Synapse, class T>
struct ForwardFinish {
  static constexpr int kRowTiles = 2;  // two tiles of 8 outputs fill a cache line of each sample

  const ForwardArgs* args;
  const Activation* activation;
  ValueFn<T> value;

  // Asks for the lines that the tile will be stored to, one per sample. Into the second level: with the usual
  // strides of some KiB all of them fall into one or two sets of the first.
  void Prefetch(const TilePlace& at) const {
    for (int64_t j = 0; j < at.columns; ++j) {
      __builtin_prefetch(args->a.Row<T>(at.column + j) + at.row, 0, 2);
    }
  }
  void operator()(T* tile, const TilePlace& at) const {
    const auto* bias = static_cast<const T*>(args->bias);
    const Tag<T> d;
    FinishSums<Synapse>(tile, at.rows * at.width);
    if (!args->distance.empty()) {
      StoreTurned(tile, at, args->distance);
    }
    for (int64_t i = 0; bias != nullptr && i < at.rows; ++i) {
      const auto b = hn::Set(d, bias[at.row + i]);
      for (int64_t j = 0; j < at.width; j += kLanes<T>) {
        T* p = tile + i * at.width + j;
        hn::Store(hn::Add(hn::Load(d, p), b), d, p);
      }
    }
    if (!args->z.empty()) {
      StoreTurned(tile, at, args->z);
    }
    value(*activation, tile, tile, at.rows * at.width);
    StoreTurned(tile, at, args->a);
  }

 private:
  static void StoreTurned(const T* tile, const TilePlace& at, const MatrixView& to) {
    Transpose(tile, at.width, at.rows, at.columns, to.Row<T>(at.column) + at.row, to.stride);
  }
};

/// Input gradient: rows are samples, columns inputs.
template <class T>
struct SlopeFinish {
  static constexpr int kRowTiles = 1;

  const InputGradientArgs* args;
  SlopeFn<T> slope;  // null: none

  void Prefetch(const TilePlace&) const {}
  void operator()(T* tile, const TilePlace& at) const {
    for (int64_t i = 0; i < at.rows; ++i) {
      const T* g = tile + i * at.width;
      T* out = args->out.Row<T>(at.row + i) + at.column;
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

/// Weight gradient: rows are outputs, columns inputs.
template <class T>
struct UpdateFinish {
  static constexpr int kRowTiles = 1;

  const ParameterArrays* arrays;
  const UpdateConstants<T>* constants;
  UpdateFn<T> update;
  int64_t inputs;

  // Asks for the weights before the tile is computed: they come from the third-level cache or memory.
  void Prefetch(const TilePlace& at) const {
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
    const T* value = static_cast<const T*>(arrays->value);
    for (int64_t i = 0; value != nullptr && i < at.rows; ++i) {
      for (int64_t j = 0; j < at.columns; j += kLine) {
        __builtin_prefetch(value + (at.row + i) * inputs + at.column + j, 1);
      }
    }
  }
  void operator()(T* tile, const TilePlace& at) const {
    update(*constants, {tile, at.width, at.row * inputs + at.column, inputs, at.rows, at.columns}, *arrays);
  }
};

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
