// Forward for few samples or few outputs: dot products along the inputs, read where they are. Packing would
// cost more than it saves, and a tile of 48 samples would be mostly empty.
#if defined(LAMINA_BACKEND_CPU_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_DOTS_INL_H_
#undef LAMINA_BACKEND_CPU_DOTS_INL_H_
#else
#define LAMINA_BACKEND_CPU_DOTS_INL_H_
#endif

#include "lamina/backend/cpu/epilogue-inl.h"
#include "lamina/backend/cpu/tile-inl.h"
#include "lamina/base/abandon.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

inline constexpr int kDotOutputs = 6;
inline constexpr int kDotSamples = kTileVectors == 3 ? 4 : 2;

// Whether rows of weights are asked for before they are read. Measured for vectors of a whole line, on Zen 4 and 5. On
// Zen 3 (AVX2) the processor finds six rows by itself, and one sample of 784 x 128 takes 1.4 times as long with it.
inline constexpr bool kAsksForRows = kTileVectors == 3;

template <class T>
struct DotInput {
  const T* weights;
  int64_t weight_stride;
  const T* x;
  int64_t x_stride;
  int64_t depth;
  T* out;
  int64_t out_stride;
  std::array<const T*, 3> ahead = {};  // rows of weights that are read next, asked for along with these; null: none
};

// to[i] = the sum of the lanes of sums[i], in the order of hn::SumOfLanes().
template <class T, int kCount>
HWY_INLINE void StoreSumsOfLanes(const VecOf<T> (&sums)[kCount], T* to) {
  const Tag<T> d;
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(T) == 4 && kCount >= kLanes<T> / 2) {  // sixteen at once: 30 shuffles instead of 80
    const hn::Repartition<double, Tag<T>> pairs;
    HWY_UNROLL(2)
    for (int first = 0; first < kCount; first += 16) {
      VecOf<T> v[16];  // sum 4 b + i comes out in block b, where vector b + 4 i goes in
      HWY_UNROLL(16)
      for (int i = 0; i < 16; ++i) {
        v[i / 4 + 4 * (i % 4)] = first + i < kCount ? sums[first + i] : hn::Zero(d);
      }
      VecOf<T> halves[8];
      HWY_UNROLL(8)
      for (int i = 0; i < 8; ++i) {
        halves[i] =
            hn::Add(hn::ConcatLowerLower(d, v[2 * i + 1], v[2 * i]), hn::ConcatUpperUpper(d, v[2 * i + 1], v[2 * i]));
      }
      VecOf<T> blocks[4];
      HWY_UNROLL(4)
      for (int i = 0; i < 4; ++i) {
        const auto a = halves[2 * i].raw;
        const auto b = halves[2 * i + 1].raw;
        blocks[i] = VecOf<T>{_mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD))};
      }
      VecOf<T> twos[2];
      HWY_UNROLL(2)
      for (int i = 0; i < 2; ++i) {
        const auto a = hn::BitCast(pairs, blocks[2 * i]);
        const auto b = hn::BitCast(pairs, blocks[2 * i + 1]);
        twos[i] =
            hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)));
      }
      const VecOf<T> all{_mm512_add_ps(_mm512_shuffle_ps(twos[0].raw, twos[1].raw, 0x88),
                                       _mm512_shuffle_ps(twos[0].raw, twos[1].raw, 0xDD))};
      hn::StoreU(all, d, to + first);
    }
    return;
  }
#endif
  HWY_UNROLL(32)
  for (int i = 0; i < kCount; ++i) {
    to[i] = hn::GetLane(hn::SumOfLanes(d, sums[i]));
  }
}

/// out[s * out_stride + o] = sum over k of term(x[s][k], weights[o][k]).
template <class Term, class T, int kOutputs, int kSamples>
HWY_NOINLINE void DotTile(const DotInput<T>& in) {
  const Tag<T> d;
  VecOf<T> sums[kSamples * kOutputs];  // sample by sample
  HWY_UNROLL(32)
  for (auto& sum : sums) {
    sum = hn::Zero(d);
  }
  const T* w = in.weights;
  const T* x = in.x;
  const int64_t w_stride = in.weight_stride;
  const int64_t x_stride = in.x_stride;
  int64_t left = in.depth;
  std::array<const T*, 3> ahead = in.ahead;
  for (; left >= kLanes<T>; left -= kLanes<T>) {
    if (kAsksForRows && kSamples == kDotSamples && ahead[0] != nullptr) {
      for (const T*& each : ahead) {
        __builtin_prefetch(each, 0, 2);
        each += kLanes<T>;
      }
    }
    VecOf<T> xs[kSamples];
    HWY_UNROLL(8)
    for (int s = 0; s < kSamples; ++s) {
      xs[s] = hn::LoadU(d, x + s * x_stride);
    }
    HWY_UNROLL(8)
    for (int o = 0; o < kOutputs; ++o) {
      const auto wo = hn::LoadU(d, w + o * w_stride);
      if constexpr (kAsksForRows &&
                    kSamples == 1) {  // bound by the cache that holds the weights: ask for the rows after these
        __builtin_prefetch(w + (o + kOutputs) * w_stride, 0, 3);
      }
      HWY_UNROLL(8)
      for (int s = 0; s < kSamples; ++s) {
        auto& sum = sums[s * kOutputs + o];
        sum = Term::Accumulate(Pack<T>(xs[s]), Pack<T>(wo), Pack<T>(sum)).v;
      }
    }
    w += kLanes<T>;
    x += kLanes<T>;
  }
  if (left > 0) {
    VecOf<T> xs[kSamples];
    HWY_UNROLL(8)
    for (int s = 0; s < kSamples; ++s) {
      xs[s] = LoadTail<T>(x + s * x_stride, left);
    }
    HWY_UNROLL(8)
    for (int o = 0; o < kOutputs; ++o) {
      const auto wo = LoadTail<T>(w + o * w_stride, left);
      HWY_UNROLL(8)
      for (int s = 0; s < kSamples; ++s) {
        auto& sum = sums[s * kOutputs + o];
        sum = Term::Accumulate(Pack<T>(xs[s]), Pack<T>(wo), Pack<T>(sum)).v;
      }
    }
  }
  HWY_ALIGN T stored[RoundUp(kSamples * kOutputs, kLanes<T>)];
  StoreSumsOfLanes<T>(sums, stored);
  HWY_UNROLL(8)
  for (int s = 0; s < kSamples; ++s) {
    std::copy_n(stored + s * kOutputs, kOutputs, in.out + s * in.out_stride);
  }
}

template <class T>
using DotFn = void (*)(const DotInput<T>&);

template <class Term, class T, int kSamples>
HWY_INLINE DotFn<T> DotFor(int64_t outputs) {
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<DotFn<T>, sizeof...(I)>{&DotTile<Term, T, static_cast<int>(I) + 1, kSamples>...};
  }
  (std::make_index_sequence<static_cast<size_t>(kDotOutputs)>{});
  return kTable[static_cast<size_t>(outputs - 1)];
}

// Where sums stand until the activation. Only layers of training keep slopes.
template <bool kKeepsSlopes, class T>
HWY_INLINE const MatrixView& PlaceOfSums(const ForwardTask<T>& task) {
  if (kKeepsSlopes && task.slopes != nullptr) {
    return *task.slopes;
  }
  return task.args->z.empty() ? task.args->a : task.args->z;
}

/// The synapse's finish, bias and elementwise activation over sums that stand in PlaceOfSums().
template <class Synapse, class T, bool kKeepsSlopes = false>
void FinishDots(const ForwardTask<T>& task, int64_t s_begin, int64_t s_end, int64_t o_begin, int64_t o_end) {
  const ForwardArgs& args = *task.args;
  const MatrixView& to = PlaceOfSums<kKeepsSlopes>(task);
  const int64_t count = o_end - o_begin;
  const ValueFn<T> value = ValueFor<T>(*task.activation);
  const T* const bias = args.bias == nullptr ? nullptr : static_cast<const T*>(args.bias) + o_begin;
  if constexpr (kKeepsSlopes && std::is_base_of_v<formulas::PlainSum, Synapse>) {  // one row gains nothing
    if (args.z.empty() && args.distance.empty() && task.slopes == nullptr) {
      const RowsFn<T> rows = RowsFor<T>(*task.activation);
      rows(*task.activation, {to.Row<T>(s_begin) + o_begin, to.stride, args.a.Row<T>(s_begin) + o_begin, args.a.stride,
                              s_end - s_begin, count, bias});
      return;
    }
  }
  for (int64_t s = s_begin; s < s_end; ++s) {
    T* z = to.Row<T>(s) + o_begin;
    FinishSums<Synapse>(z, count);
    if (!args.distance.empty()) {
      std::memcpy(args.distance.Row<T>(s) + o_begin, z, static_cast<size_t>(count) * sizeof(T));
    }
    if (bias != nullptr) {
      Transform<T>(
          count, z, [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Add(a, b); }, static_cast<const T*>(z), bias);
    }
    if constexpr (kKeepsSlopes) {
      if (task.slopes != nullptr) {
        const BothFn<T> both = BothFor<T>(*task.activation);
        both(*task.activation, z, args.a.Row<T>(s) + o_begin, z, count);
        continue;
      }
    }
    value(*task.activation, z, args.a.Row<T>(s) + o_begin, count);
  }
}

// With more samples, computing with rows of weights hides the wait for the next.
inline constexpr int64_t kMostToAsk = 16;

// So many samples are computed between two looks at whether the layer is still wanted.
inline constexpr int64_t kSamplesBetween = 64;

/// Samples [s_begin, s_end) × outputs [o_begin, o_end): sums, bias and elementwise activation.
template <class Synapse, class T>
void DotsBlock(const ForwardTask<T>& task, int64_t s_begin, int64_t s_end, int64_t o_begin, int64_t o_end) {
  const ForwardArgs& args = *task.args;
  const MatrixView& to = PlaceOfSums<true>(task);
  const int64_t count = o_end - o_begin;
  const int64_t groups = CeilDivide(count, kDotOutputs);
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t o = o_begin + count * g / groups;
    const int64_t outputs = o_begin + count * (g + 1) / groups - o;
    DotInput<T> in{
        args.weights.Row<T>(o), args.weights.stride, nullptr, args.x.stride, args.x.cols, nullptr, to.stride};
    const bool asks =
        kAsksForRows && s_end - s_begin >= 2 * kDotSamples && s_end - s_begin <= kMostToAsk && g + 1 < groups;
    for (int64_t s = s_begin; s < s_end;) {
      if ((s - s_begin) % kSamplesBetween == 0 && Abandoned()) {
        return;
      }
      in.x = args.x.Row<T>(s);
      in.out = to.Row<T>(s) + o;
      if (s_end - s >= kDotSamples) {
        if (asks) {  // each tile for its share of the rows
          const int64_t share = (s - s_begin) * kDotOutputs / (s_end - s_begin);
          for (int64_t i = 0; i < 3; ++i) {
            in.ahead[i] = args.weights.Row<T>(std::min(o + outputs + share + i, o_end - 1));
          }
        }
        DotFor<typename Synapse::Term, T, kDotSamples>(outputs)(in);
        s += kDotSamples;
      } else if (s_end - s >= 2) {
        DotFor<typename Synapse::Term, T, 2>(outputs)(in);
        s += 2;
      } else {
        DotFor<typename Synapse::Term, T, 1>(outputs)(in);
        s += 1;
      }
    }
  }
  FinishDots<Synapse, T, true>(task, s_begin, s_end, o_begin, o_end);
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
