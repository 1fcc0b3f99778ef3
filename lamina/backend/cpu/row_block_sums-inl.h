// Rows turned to lanes, and gradients: sums of each lane over the rows of a group, added up when the group ends.
#if defined(LAMINA_BACKEND_CPU_ROW_BLOCK_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ROW_BLOCK_SUMS_INL_H_
#undef LAMINA_BACKEND_CPU_ROW_BLOCK_SUMS_INL_H_
#else
#define LAMINA_BACKEND_CPU_ROW_BLOCK_SUMS_INL_H_
#endif

#include "lamina/backend/cpu/epilogue-inl.h"
#include "lamina/backend/cpu/row_block_layer.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// kSide columns of kSide rows, turned.
template <class T>
HWY_INLINE void TurnSide(const T* const* rows, int64_t column, T* to, int64_t stride) {
#if HWY_TARGET == HWY_SCALAR
  to[column * stride] = rows[0][column];
#else
  const hn::FixedTag<T, kSide<T> > d;
  T* const out = to + column * stride;
  const auto r0 = hn::LoadU(d, rows[0] + column);
  const auto r1 = hn::LoadU(d, rows[1] + column);
  if constexpr (sizeof(T) == 8) {
    hn::Store(hn::InterleaveLower(d, r0, r1), d, out);
    hn::Store(hn::InterleaveUpper(d, r0, r1), d, out + stride);
  } else {
    const auto r2 = hn::LoadU(d, rows[2] + column);
    const auto r3 = hn::LoadU(d, rows[3] + column);
    const auto a = hn::InterleaveLower(d, r0, r1);
    const auto b = hn::InterleaveLower(d, r2, r3);
    const auto e = hn::InterleaveUpper(d, r0, r1);
    const auto f = hn::InterleaveUpper(d, r2, r3);
    hn::Store(hn::ConcatLowerLower(d, b, a), d, out);
    hn::Store(hn::ConcatUpperUpper(d, b, a), d, out + stride);
    hn::Store(hn::ConcatLowerLower(d, f, e), d, out + 2 * stride);
    hn::Store(hn::ConcatUpperUpper(d, f, e), d, out + 3 * stride);
  }
#endif
}

// Rows and columns that are turned together: of doubles four, where there are vectors of them.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
template <class T>
inline constexpr int64_t kTurned = sizeof(T) == 8 ? 4 : kSide<T>;

template <class T>
HWY_INLINE void TurnRows(const T* const* rows, int64_t column, T* to, int64_t stride) {
  if constexpr (kTurned<T> == kSide<T>) {
    TurnSide<T>(rows, column, to, stride);
  } else {
    const hn::FixedTag<T, kTurned<T> > d;
    T* const out = to + column * stride;
    const auto r0 = hn::LoadU(d, rows[0] + column);
    const auto r1 = hn::LoadU(d, rows[1] + column);
    const auto r2 = hn::LoadU(d, rows[2] + column);
    const auto r3 = hn::LoadU(d, rows[3] + column);
    const auto a = hn::InterleaveLower(d, r0, r1);
    const auto b = hn::InterleaveLower(d, r2, r3);
    const auto e = hn::InterleaveUpper(d, r0, r1);
    const auto f = hn::InterleaveUpper(d, r2, r3);
    hn::Store(hn::ConcatLowerLower(d, b, a), d, out);
    hn::Store(hn::ConcatLowerLower(d, f, e), d, out + stride);
    hn::Store(hn::ConcatUpperUpper(d, b, a), d, out + 2 * stride);
    hn::Store(hn::ConcatUpperUpper(d, f, e), d, out + 3 * stride);
  }
}

#else
template <class T>
inline constexpr int64_t kTurned = kSide<T>;

template <class T>
HWY_INLINE void TurnRows(const T* const* rows, int64_t column, T* to, int64_t stride) {
  TurnSide<T>(rows, column, to, stride);
}
#endif

template <class T>
void RowBlockGatherRows(const RowBlockGather<T>& gather, const BlockOfRows& block, T* to) noexcept {
  constexpr int64_t kTogether = kTurned<T>;
  constexpr int64_t kAhead = 16;  // shuffled rows come from memory
  const int64_t last = block.begin + block.rows - 1;
  const auto row = [&](int64_t i) {
    const int64_t sample = std::min(block.begin + i, last);
    return gather.from + (gather.order == nullptr ? sample : gather.order[sample]) * gather.from_stride;
  };
  if (gather.rows != nullptr) {
    for (int64_t r = 0; r < block.stride; ++r) {
      if (gather.order != nullptr) {
        const T* const ahead = row(r + kAhead);
        for (int64_t c = 0; c < gather.columns; c += kLineElements<T>) {
          __builtin_prefetch(ahead + c);
        }
      }
      Transform<T>(
          gather.columns, gather.rows + r * gather.row_stride, [](VecOf<T> v) HWY_ATTR { return v; }, row(r));
    }
    Transpose<T>(gather.rows, gather.row_stride, block.stride, gather.columns, to, block.stride);
    return;
  }
  const int64_t whole = gather.columns / kTogether * kTogether;
  for (int64_t r = 0; r < block.stride; r += kTogether) {
    const T* rows[kTogether];
    HWY_UNROLL(16)
    for (int64_t i = 0; i < kTogether; ++i) {
      rows[i] = row(r + i);
      if (gather.order != nullptr) {
        __builtin_prefetch(row(r + i + kAhead));
      }
    }
    for (int64_t c = 0; c < whole; c += kTogether) {
      TurnRows<T>(rows, c, to + r, block.stride);
    }
    int64_t left = whole;
    for (; kTogether > kSide<T> && left + kSide<T> <= gather.columns; left += kSide<T>) {
      for (int64_t i = 0; i < kTogether; i += kSide<T>) {
        TurnSide<T>(rows + i, left, to + r + i, block.stride);
      }
    }
    for (int64_t c = left; c < gather.columns; ++c) {
      HWY_UNROLL(16)
      for (int64_t i = 0; i < kTogether; ++i) {
        to[c * block.stride + r + i] = rows[i][c];
      }
    }
  }
}

// Sums of kOutputs × kInputs parameters in registers, beside their operands; a distance reads the weight, too.
inline constexpr bool kManyRegisters = kTileRows == 8;
template <class Term>
inline constexpr int kSumOutputs = Term::kIsDistance ? 2 : 4;
template <class Term>
inline constexpr int kSumInputs = Term::kIsDistance ? (kManyRegisters ? 4 : 2) : (kManyRegisters ? 4 : 3);

template <class T>
struct LaneSums {
  const T* delta;  // of the first output
  const T* x;      // of the first input
  const T* weights;
  T* sums;
  int64_t stride;
  int64_t inputs;
  bool first;
};

template <class Term, class T, int kOutputs, int kInputs>
HWY_NOINLINE void LaneSumTile(const LaneSums<T>& at) {
  const Tag<T> d;
  VecOf<T> sum[kOutputs][kInputs];
  HWY_UNROLL(8)
  for (int o = 0; o < kOutputs; ++o) {
    HWY_UNROLL(8)
    for (int i = 0; i < kInputs; ++i) {
      sum[o][i] = at.first ? hn::Zero(d) : hn::Load(d, at.sums + (o * at.inputs + i) * kLanes<T>);
    }
  }
  const int64_t stride = at.stride;
  const T* x = at.x;
  const T* delta = at.delta;
  for (int64_t r = 0; r < stride; r += kLanes<T>) {
    VecOf<T> input[kInputs];
    HWY_UNROLL(8)
    for (int i = 0; i < kInputs; ++i) {
      input[i] = hn::Load(d, x + i * stride);
    }
    HWY_UNROLL(8)
    for (int o = 0; o < kOutputs; ++o) {
      const VecOf<T> g = hn::Load(d, delta + o * stride);
      HWY_UNROLL(8)
      for (int i = 0; i < kInputs; ++i) {
        VecOf<T> own = g;
        if constexpr (Term::kIsDistance) {
          own = hn::Set(d, at.weights[o * at.inputs + i]);
        }
        sum[o][i] = Term::AccumulateSlope(Pack<T>(g), Pack<T>(own), Pack<T>(input[i]), Pack<T>(sum[o][i])).v;
      }
    }
    x += kLanes<T>;
    delta += kLanes<T>;
  }
  HWY_UNROLL(8)
  for (int o = 0; o < kOutputs; ++o) {
    HWY_UNROLL(8)
    for (int i = 0; i < kInputs; ++i) {
      hn::Store(sum[o][i], d, at.sums + (o * at.inputs + i) * kLanes<T>);
    }
  }
}

template <class Term, class T>
HWY_INLINE auto LaneSumTileFor(int64_t outputs, int64_t inputs) {
  constexpr int kInputs = kSumInputs<Term>;
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<void (*)(const LaneSums<T>&), sizeof...(I)>{
        &LaneSumTile<Term, T, static_cast<int>(I) / kInputs + 1, static_cast<int>(I) % kInputs + 1>...};
  }
  (std::make_index_sequence<static_cast<size_t>(kSumOutputs<Term> * kInputs)>{});
  return kTable[static_cast<size_t>((outputs - 1) * kInputs + inputs - 1)];
}

template <class T>
HWY_INLINE void BiasSums(const RowBlockLayer<T>& layer, const BlockOfRows& block) {
  const Tag<T> d;
  for (int64_t o = 0; o < layer.outputs; ++o) {
    T* const to = layer.bias_sums + o * kLanes<T>;
    VecOf<T> sum = block.first ? hn::Zero(d) : hn::Load(d, to);
    for (int64_t r = 0; r < block.stride; r += kLanes<T>) {
      sum = hn::Add(sum, hn::Load(d, layer.delta + o * block.stride + r));
    }
    hn::Store(sum, d, to);
  }
}

template <class T>
HWY_INLINE const T* RowBlockDelta(const RowBlockLayer<T>& layer) {
  return layer.scaled != nullptr ? layer.scaled : layer.delta;
}

// Sums over the rows in tiles of outputs × vectors of inputs, for weights too many to have a vector each.
template <class Term, class T>
HWY_INLINE void SumsByRows(const RowBlockLayer<T>& layer, const BlockOfRows& block) {
  using Sum = SlopeSum<Term>;
  HWY_ALIGN T tile[Sum::kRows * kTileColumns<T>];
  HWY_ALIGN T own[Sum::kReadsOwn ? Sum::kRows * kTileColumns<T> : 1];
  const auto add = [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Add(a, b); };
  for (int64_t i = 0; i < layer.inputs; i += kTileColumns<T>) {
    const int64_t columns = std::min(kTileColumns<T>, layer.inputs - i);
    const int64_t width = RoundUp(columns, kLanes<T>);
    for (int64_t o = 0; o < layer.outputs; o += Sum::kRows) {
      const int64_t outputs = std::min<int64_t>(Sum::kRows, layer.outputs - o);
      for (int64_t k = 0; Sum::kReadsOwn && k < outputs; ++k) {
        std::copy_n(layer.weights + (o + k) * layer.inputs + i, columns, own + k * width);
      }
      TileFor<Sum, T>(outputs, width / kLanes<T>)({RowBlockDelta(layer) + o * block.stride, block.stride, 1,
                                                   layer.rows + i, layer.row_stride, block.stride, own, nullptr},
                                                  tile, false);
      for (int64_t k = 0; k < outputs; ++k) {
        T* const to = layer.sums + (o + k) * layer.inputs + i;
        if (block.first) {
          std::copy_n(tile + k * width, columns, to);
        } else {
          Transform<T>(columns, to, add, static_cast<const T*>(to), static_cast<const T*>(tile) + k * width);
        }
      }
    }
  }
}

// Sums of every lane, in tiles of outputs × inputs.
template <class Term, class T>
HWY_INLINE void SumsByLanes(const RowBlockLayer<T>& layer, const BlockOfRows& block) {
  const T* const delta = RowBlockDelta(layer);
  for (int64_t o = 0; o < layer.outputs; o += kSumOutputs<Term>) {
    const int64_t outputs = std::min<int64_t>(kSumOutputs<Term>, layer.outputs - o);
    for (int64_t i = 0; i < layer.inputs; i += kSumInputs<Term>) {
      const int64_t inputs = std::min<int64_t>(kSumInputs<Term>, layer.inputs - i);
      const int64_t at = o * layer.inputs + i;
      LaneSumTileFor<Term, T>(outputs,
                              inputs)({delta + o * block.stride, layer.x + i * block.stride, layer.weights + at,
                                       layer.sums + at * kLanes<T>, block.stride, layer.inputs, block.first});
    }
  }
}

// Adds a block to the sums of its group.
template <class Term, class T>
HWY_INLINE void RowBlockSums(const RowBlockLayer<T>& layer, const BlockOfRows& block) {
  if (layer.rows == nullptr) {
    SumsByLanes<Term>(layer, block);
  } else {
    SumsByRows<Term>(layer, block);
  }
  if (layer.bias_sums != nullptr) {
    BiasSums(layer, block);
  }
}

// kSide sums side by side: first inside the 128-bit blocks of their vectors, then over the blocks.
template <class T>
HWY_INLINE void ReduceSide(const T* sums, T* out) {
#if HWY_TARGET == HWY_SCALAR
  *out = *sums;
#else
  const Tag<T> d;
  const hn::FixedTag<T, kSide<T> > side;
  const auto pair = [&](int64_t i) HWY_ATTR {
    const VecOf<T> a = hn::Load(d, sums + i * kLanes<T>);
    const VecOf<T> b = hn::Load(d, sums + (i + 1) * kLanes<T>);
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  VecOf<T> all = pair(0);
  if constexpr (sizeof(T) == 4) {
    const hn::Repartition<double, Tag<T> > wide;
    const auto low = hn::BitCast(wide, all);
    const auto high = hn::BitCast(wide, pair(2));
    all = hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, low, high)),
                  hn::BitCast(d, hn::InterleaveUpper(wide, low, high)));
  }
  HWY_ALIGN T blocks[kLanes<T>];
  hn::Store(all, d, blocks);
  auto sum = hn::Load(side, blocks);
  for (int64_t b = kSide<T>; b < kLanes<T>; b += kSide<T>) {
    sum = hn::Add(sum, hn::Load(side, blocks + b));
  }
  hn::Store(sum, side, out);
#endif
}

template <class T>
void RowBlockReduce(const T* sums, int64_t count, T* out) noexcept {
  for (int64_t i = 0; i < count; i += kSide<T>) {
    ReduceSide(sums + i * kLanes<T>, out + i);
  }
}

template <class U, int kStates, class T>
void SumGroupsAndUpdate(const UpdateNumbers<T>& numbers, const GroupGradients<T>& from, const ParameterArrays& to) {
  const Tag<T> d;
  const UpdateNumbers<T> fixed = numbers;  // no store to a parameter can change it
  const GroupGradients<T> gradients = from;
  const auto sum = [&gradients, d](int64_t i, int64_t left) HWY_ATTR {
    const auto load = [d, left](const T* g)
                          HWY_ATTR { return left < kLanes<T> ? LoadTail<T>(g, left) : hn::LoadU(d, g); };
    const T* g = gradients.first + i;
    VecOf<T> all = load(g);
    for (int64_t group = 1; group < gradients.groups; ++group) {
      g += gradients.stride;
      all = hn::Add(all, load(g));
    }
    return all;
  };
  UpdateRow<U>(fixed, gradients.count, sum, to, gradients.at, std::make_index_sequence<kStates>());
}

template <class T>
void RowBlockUpdate(const UpdateRule& rule, const UpdateNumbers<T>& numbers, const GroupGradients<T>& from,
                    const ParameterArrays& to) noexcept {
  using Update = void (*)(const UpdateNumbers<T>&, const GroupGradients<T>&, const ParameterArrays&);
  struct Forms {
    Update plain, with_momentum;
  };
  static constexpr auto kTable = []<class... U>(std::tuple<U...>*) {
    return std::array<Forms, sizeof...(U)>{
        Forms{&SumGroupsAndUpdate<U, StatesOf<U>(false), T>, &SumGroupsAndUpdate<U, StatesOf<U>(true), T>}...};
  }(static_cast<formulas::Updates*>(nullptr));
  const Forms& forms = kTable[static_cast<size_t>(rule.kind)];
  (rule.momentum == 0 ? forms.plain : forms.with_momentum)(numbers, from, to);
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
