// Forward passes on operands in a storage type of their own, or with Precision::kFast. They are the blocked product
// over encoded lanes, finished in the type of the outputs.
#if defined(LAMINA_BACKEND_CPU_GROUP_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_GROUP_FORWARD_INL_H_
#undef LAMINA_BACKEND_CPU_GROUP_FORWARD_INL_H_
#else
#define LAMINA_BACKEND_CPU_GROUP_FORWARD_INL_H_
#endif

#include "lamina/backend/cpu/encode-inl.h"
#include "lamina/backend/cpu/group_finish-inl.h"
#include "lamina/backend/cpu/product-inl.h"
#include "lamina/backend/cpu/registers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

template <class T>
ProductInput<T> GroupInput(const ForwardTask<T>& task) {
  const ForwardArgs& args = *task.args;
  const EncodedOperands<T>& e = *task.encoded;
  const bool in_place = e.weights_in_place;
  const int64_t weight_stride =
      in_place ? args.weights.stride * e.weights.element_bytes / static_cast<int64_t>(sizeof(T)) : args.weights.stride;
  return {
      {static_cast<const T*>(args.weights.data), args.weights.rows, weight_stride, 1, in_place ? nullptr : &e.weights},
      {static_cast<const T*>(args.x.data), args.x.rows, args.x.stride, 1, e.x.encode == nullptr ? nullptr : &e.x},
      e.lanes,
      task.scratch,
      task.budget};
}

/// What the sums of shifted bytes lack: kShift times the sum of each output's weights, which are of type E.
struct NoCorrection {
  static constexpr int kShift = 0;
  using Element = int8_t;
};
template <class E>
struct ShiftCorrection {
  static constexpr int kShift = std::is_signed_v<E> ? -128 : 128;
  using Element = E;
};

template <class Sum, class Synapse, class T, class Out, class Correction = NoCorrection>
void ForwardIntegers(const ForwardTask<T>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  if constexpr (Correction::kShift != 0) {
    using E = typename Correction::Element;
    for (int64_t j = team.Begin(args.weights.rows); j < team.End(args.weights.rows); ++j) {
      const E* w = args.weights.Row<E>(j);
      int64_t sum = 0;
      for (int64_t k = 0; k < args.weights.cols; ++k) {
        sum += w[k];
      }
      task.scratch.rest[j] = static_cast<T>(sum * Correction::kShift);
    }  // the barrier after packing makes them known to all
  }
  const IntegerFinish<Synapse, T, Out> finish{{&args, task.activation, ValueFor<Out>(*task.activation)},
                                              Correction::kShift != 0 ? task.scratch.rest : nullptr};
  Product<Sum>(GroupInput(task), finish, team);
  FinishSoftmax<Out>(task, team);
}

template <class Sum, class Synapse, class T>
void ForwardHalves(const ForwardTask<T>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  const ForwardFinish<Synapse, T> finish{&args, task.activation, ValueFor<T>(*task.activation)};
  Product<Sum>(GroupInput(task), finish, team);
  FinishSoftmax<T>(task, team);
}

/// Sum |x - w| = 2 sum of max(x, w) - sum of x - sum of w, never below 0.
template <class T>
struct FastFinish {
  static constexpr int kRowTiles = ForwardFinish<formulas::L1Synapse, T>::kRowTiles;

  ForwardFinish<formulas::L1Synapse, T> finish;
  const T* weight_sums;
  const T* x_sums;  // padded to whole vectors

  void Prefetch(const TilePlace& at) const { finish.Prefetch(at); }
  void operator()(T* tile, const TilePlace& at) const {
    const Tag<T> d;
    for (int64_t i = 0; i < at.rows; ++i) {
      const auto w = hn::Set(d, weight_sums[at.row + i]);
      for (int64_t j = 0; j < at.width; j += kLanes<T>) {
        T* p = tile + i * at.width + j;
        const auto both = hn::Add(w, hn::LoadU(d, x_sums + at.column + j));
        const auto distance = hn::MulSub(hn::Set(d, T(2)), hn::Load(d, p), both);
        hn::Store(MaxVec<T>(hn::Zero(d), distance), d, p);
      }
    }
    finish(tile, at);
  }
};

// Sums of rows [begin, end) of an operand, in an order that depends on its length only.
template <class T>
void RowSums(const Operand<T>& operand, int64_t lanes, int64_t begin, int64_t end, T* sums) {
  const Tag<T> d;
  constexpr int64_t kChunk = 16 * kLanes<T>;
  HWY_ALIGN T chunk[kChunk];
  for (int64_t r = begin; r < end; ++r) {
    auto sum = hn::Zero(d);
    for (int64_t k = 0; k < lanes; k += kChunk) {
      const int64_t count = std::min(kChunk, lanes - k);
      if (operand.encoding != nullptr) {
        operand.Encode(r, k, count, chunk);
      }
      const T* from = operand.encoding != nullptr ? chunk : operand.At(r, k);
      int64_t i = 0;
      for (; i + kLanes<T> <= count; i += kLanes<T>) {
        sum = hn::Add(sum, hn::LoadU(d, from + i));
      }
      if (i < count) {
        sum = hn::Add(sum, LoadTail<T>(from + i, count - i));
      }
    }
    sums[r] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

template <class T>
void ForwardFast(const ForwardTask<T>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  const ProductInput<T> input = GroupInput(task);
  T* const weight_sums = task.scratch.rest;
  T* const x_sums = weight_sums + args.weights.rows;
  RowSums(input.rows, input.depth, team.Begin(args.weights.rows), team.End(args.weights.rows), weight_sums);
  RowSums(input.columns, input.depth, team.Begin(args.x.rows), team.End(args.x.rows), x_sums);
  const FastFinish<T> finish{{&args, task.activation, ValueFor<T>(*task.activation)}, weight_sums, x_sums};
  Product<MaximumSum>(input, finish, team);
  FinishSoftmax<T>(task, team);
}

template <class T>
GroupTable<T> GroupTableOf(GroupKernel<T> (*find)(Synapse, DType, Method)) {
  return {hwy::TargetName(HWY_TARGET), {kTileRows, kTileVectors, kLanes<T>}, find};
}

template <class T, class E>
Encoding<T> WideEncoding() {
  if constexpr (std::is_same_v<E, T>) {
    return {nullptr, sizeof(E), 1, true};
  } else if constexpr (std::is_same_v<T, float>) {
    return {&EncodeHalves<E>, sizeof(E), 1};
  } else {
    return {&EncodeWide<E, T>, sizeof(E), 1};
  }
}

// Sets what a Sum decides.
template <class Sum, class Synapse, class T, class Out, class Correction = NoCorrection>
void UseIntegers(GroupKernel<T>& kernel) {
  kernel.forward = &ForwardIntegers<Sum, Synapse, T, Out, Correction>;
  kernel.registers = &RegisterSums<Sum, T>;
}

static_assert(std::tuple_size_v<formulas::Synapses> == 4, "say below how a new synapse sums integers and halves");

// The finishing synapse of integer sums: only l2 does something there.
template <class Sum, class T, class Out>
void UseSquares(Synapse synapse, GroupKernel<T>& kernel) {
  if (synapse == Synapse::kL2) {
    UseIntegers<Sum, formulas::L2Synapse, T, Out>(kernel);
  } else {
    UseIntegers<Sum, formulas::DotSynapse, T, Out>(kernel);
  }
}

template <class T>
void UseBoth(const Encoding<T>& encoding, GroupKernel<T>& kernel) {
  kernel.weights = kernel.x = encoding;
}

/// Storage types computed in f32 (f64 in itself, for kFast).
template <class T>
GroupKernel<T> FindFloat(Synapse synapse, DType dtype, Method method) {
  GroupKernel<T> kernel;
  if (dtype == DTypeOf<T>()) {
    UseBoth(WideEncoding<T, T>(), kernel);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::kF16) {
      UseBoth(WideEncoding<float, Float16>(), kernel);
    } else if (dtype == DType::kBF16) {
      UseBoth(WideEncoding<float, BFloat16>(), kernel);
    }
    if (method == Method::kWide) {
      const auto use = [&]<class... S>(std::tuple<S...>*) {
        constexpr std::array kForward{&ForwardHalves<TermSum<typename S::Term>, S, float>...};
        constexpr std::array kRegisters{&RegisterSums<TermSum<typename S::Term>, float>...};
        kernel.forward = kForward[static_cast<size_t>(synapse)];
        kernel.registers = kRegisters[static_cast<size_t>(synapse)];
      };
      use(static_cast<formulas::Synapses*>(nullptr));
    }
#if HWY_TARGET == HWY_AVX3
    if (method == Method::kPairs) {
      UseBoth({&EncodeBits<float, 2>, 2, 2, true}, kernel);
      kernel.forward = &ForwardHalves<BFloat16PairSum, formulas::DotSynapse, float>;
      kernel.registers = &RegisterSums<BFloat16PairSum, float>;
    }
#endif
  }
  if (method == Method::kFast) {
    kernel.forward = &ForwardFast<T>;
    kernel.registers = &RegisterSums<MaximumSum, T>;
  }
  return kernel;
}

/// i16, and 8-bit types in pairs and quads, summed in i32.
inline GroupKernel<int32_t> FindI32(Synapse synapse, DType dtype, Method method) {
  using T = int32_t;
  using formulas::DotSynapse;
  GroupKernel<T> kernel;
  if (method == Method::kWide) {  // l1 of i16
    UseBoth(WideEncoding<T, int16_t>(), kernel);
    UseIntegers<WideAbsoluteSum, DotSynapse, T, float>(kernel);
  } else if (method == Method::kPairs) {
    UseBoth(dtype == DType::kI16  ? Encoding<T>{&EncodeBits<T, 2>, 2, 2, true}
            : dtype == DType::kI8 ? Encoding<T>{&EncodePairs<int8_t>, 1, 2}
                                  : Encoding<T>{&EncodePairs<uint8_t>, 1, 2},
            kernel);
    if (synapse == Synapse::kDot) {
      UseIntegers<PairProductSum, DotSynapse, T, float>(kernel);
    } else {
      UseSquares<PairSquareSum, T, float>(synapse, kernel);
    }
  }
#if HWY_TARGET == HWY_AVX3
  if (method == Method::kQuads) {
    kernel.weights = {&EncodeBits<T, 1>, 1, 4, true};
    kernel.x = {&EncodeShifted<T>, 1, 4};
    if (dtype == DType::kU8) {
      UseIntegers<QuadProductSum<true>, DotSynapse, T, float, ShiftCorrection<uint8_t>>(kernel);
    } else {
      UseIntegers<QuadProductSum<false>, DotSynapse, T, float, ShiftCorrection<int8_t>>(kernel);
    }
  }
#endif
  return kernel;
}

// kHalf: both factors of a product fit into 32 bits; kHalfDifference: so do differences.
template <class Out, bool kHalf, bool kHalfDifference>
void UseWide(Synapse synapse, GroupKernel<int64_t>& kernel) {
  using T = int64_t;
  switch (synapse) {
    case Synapse::kDot: UseIntegers<WideProductSum<kHalf>, formulas::DotSynapse, T, Out>(kernel); break;
    case Synapse::kL1: UseIntegers<WideAbsoluteSum, formulas::DotSynapse, T, Out>(kernel); break;
    default: UseSquares<WideSquareSum<kHalfDifference>, T, Out>(synapse, kernel);
  }
}

/// i16, i32 and i64 summed in i64, and absolute differences of bytes.
inline GroupKernel<int64_t> FindI64(Synapse synapse, DType dtype, Method method) {
  using T = int64_t;
  GroupKernel<T> kernel;
  if (method == Method::kSad) {
    UseBoth(dtype == DType::kU8 ? Encoding<T>{&EncodeBits<T, 1>, 1, 8, true} : Encoding<T>{&EncodeShifted<T>, 1, 8},
            kernel);
    UseIntegers<SadSum, formulas::DotSynapse, T, float>(kernel);
  } else if (dtype == DType::kI16) {
    UseBoth(WideEncoding<T, int16_t>(), kernel);
    UseWide<float, true, true>(synapse, kernel);
  } else if (dtype == DType::kI32) {  // its differences need 33 bits
    UseBoth(WideEncoding<T, int32_t>(), kernel);
    UseWide<double, true, false>(synapse, kernel);
  } else if (dtype == DType::kI64) {
    UseBoth(WideEncoding<T, int64_t>(), kernel);
    UseWide<double, false, false>(synapse, kernel);
  }
  return kernel;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
