// Softmax and losses over a block of rows, a lane a row.
#if defined(LAMINA_BACKEND_CPU_ROW_BLOCK_LOSS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ROW_BLOCK_LOSS_INL_H_
#undef LAMINA_BACKEND_CPU_ROW_BLOCK_LOSS_INL_H_
#else
#define LAMINA_BACKEND_CPU_ROW_BLOCK_LOSS_INL_H_
#endif

#include <limits>

#include "lamina/backend/cpu/epilogue-inl.h"
#include "lamina/backend/cpu/row_block_layer.h"

HWY_BEFORE_NAMESPACE();

// What losses ask of their type.
template <class T>
class std::numeric_limits<lamina::cpu::HWY_NAMESPACE::Pack<T>> {
 public:
  static HWY_INLINE auto min() { return lamina::cpu::HWY_NAMESPACE::Pack<T>(double{std::numeric_limits<T>::min()}); }
  static HWY_INLINE auto epsilon() {
    return lamina::cpu::HWY_NAMESPACE::Pack<T>(double{std::numeric_limits<T>::epsilon()});
  }
};

namespace lamina::cpu::HWY_NAMESPACE {

// Activation::Value() of softmax.
template <class T>
HWY_INLINE void RowBlockSoftmax(const T* z, T* a, int64_t outputs, int64_t stride) {
  const Tag<T> d;
  for (int64_t r = 0; r < stride; r += kLanes<T>) {
    VecOf<T> most = hn::Load(d, z + r);
    for (int64_t j = 1; j < outputs; ++j) {
      most = MaxVec<T>(most, hn::Load(d, z + j * stride + r));
    }
    VecOf<T> sum = hn::Zero(d);
    for (int64_t j = 0; j < outputs; ++j) {
      const VecOf<T> e = ExpVec<T>(hn::Sub(hn::Load(d, z + j * stride + r), most));
      hn::Store(e, d, a + j * stride + r);
      sum = hn::Add(sum, e);
    }
    for (int64_t j = 0; j < outputs; ++j) {
      T* const at = a + j * stride + r;
      hn::Store(hn::Div(hn::Load(d, at), sum), d, at);
    }
  }
}

// delta_j = a_j (delta_j - sum over k of delta_k a_k)
template <class T>
HWY_INLINE void RowBlockSoftmaxSlope(const T* a, T* delta, int64_t outputs, int64_t stride) {
  const Tag<T> d;
  for (int64_t r = 0; r < stride; r += kLanes<T>) {
    VecOf<T> dot = hn::Zero(d);
    for (int64_t j = 0; j < outputs; ++j) {
      dot = hn::MulAdd(hn::Load(d, delta + j * stride + r), hn::Load(d, a + j * stride + r), dot);
    }
    for (int64_t j = 0; j < outputs; ++j) {
      T* const at = delta + j * stride + r;
      hn::Store(hn::Mul(hn::Load(d, a + j * stride + r), hn::Sub(hn::Load(d, at), dot)), d, at);
    }
  }
}

// delta of a part of a layer, times the slope of its activation.
template <class T>
HWY_INLINE void MultiplySlope(const RowBlockLayer<T>& layer, SlopeFn<T> slope, int64_t at, int64_t count) {
  T* const delta = layer.delta + at;
  if (BothFor<T>(*layer.activation) != nullptr) {  // z is the slope
    Transform<T>(
        count, delta, [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Mul(a, b); }, static_cast<const T*>(delta),
        static_cast<const T*>(layer.z + at));
  } else {
    slope(*layer.activation, layer.z == nullptr ? nullptr : layer.z + at, layer.a + at, delta, delta, count);
  }
}

// The answers of a vector of rows that count as right; see LossSums.
template <class T>
HWY_INLINE hn::Mask<Tag<T>> RightAnswers(const T* a, const T* y, int64_t outputs, int64_t stride, double threshold) {
  const Tag<T> d;
  if (outputs == 1) {
    const VecOf<T> limit = hn::Set(d, static_cast<T>(threshold));
    return hn::Not(hn::Xor(hn::Gt(hn::Load(d, a), limit), hn::Gt(hn::Load(d, y), limit)));
  }
  const auto largest = [&](const T* values) HWY_ATTR {
    VecOf<T> most = hn::Load(d, values);
    VecOf<T> place = hn::Zero(d);
    for (int64_t j = 1; j < outputs; ++j) {
      const VecOf<T> value = hn::Load(d, values + j * stride);
      const auto more = hn::Gt(value, most);
      most = hn::IfThenElse(more, value, most);
      place = hn::IfThenElse(more, hn::Set(d, static_cast<T>(j)), place);
    }
    return place;
  };
  return hn::Eq(largest(a), largest(y));
}

// The sums over a block and the gradient, for the loss at a place of the list.
template <size_t kLoss, class T>
LossSums LossOfBlock(const RowBlockLoss<T>& loss, const RowBlockLayer<T>& output, const BlockOfRows& block) {
  const Tag<T> d;
  std::tuple_element_t<kLoss, formulas::Losses> formula;
  loss.args->loss.Visit([&]<class P>(const P& plain) {
    if constexpr (std::is_same_v<P, std::tuple_element_t<kLoss, lamina::formulas::Losses>>) {
      for (size_t i = 0; i < P::kParameters.size(); ++i) {
        formula.*(formula.kParameters[i].member) = plain.*(P::kParameters[i].member);
      }
    }
  });
  const int64_t stride = block.stride;
  const Loss::Smoothed smooth = loss.args->loss.Smooth(loss.args->label_smoothing, output.outputs);
  const Pack<T> keep(smooth.keep);
  const Pack<T> even(smooth.even);
  VecOf<T> losses = hn::Zero(d);
  LossSums sums;
  for (int64_t r = 0; r < block.rows; r += kLanes<T>) {
    const auto counts = hn::FirstN(d, static_cast<size_t>(std::min(block.rows - r, kLanes<T>)));
    const VecOf<T> weight = hn::IfThenElseZero(
        counts, loss.sample_weights == nullptr ? hn::Set(d, T(1)) : hn::Load(d, loss.sample_weights + r));
    const VecOf<T> scale = hn::Mul(weight, hn::Set(d, loss.mean));
    VecOf<T> sum = hn::Zero(d);
    for (int64_t j = 0; j < output.outputs; ++j) {
      const Pack<T> a(hn::Load(d, output.a + j * stride + r));
      const Pack<T> y = MulAdd(keep, Pack<T>(hn::Load(d, loss.targets + j * stride + r)), even);
      sum = hn::Add(sum, formulas::LossValue(formula, a, y, j).v);
      const VecOf<T> delta = hn::Mul(scale, formulas::LossGradient(formula, a, y, j).v);
      hn::Store(hn::IfThenElseZero(counts, delta), d, output.delta + j * stride + r);
    }
    losses = hn::Add(losses, hn::IfThenElseZero(counts, hn::Mul(weight, sum)));
    const auto right = RightAnswers(output.a + r, loss.targets + r, output.outputs, stride, loss.args->class_threshold);
    sums.correct += static_cast<int64_t>(hn::CountTrue(d, hn::And(counts, right)));
  }
  HWY_ALIGN T lanes[kLanes<T>];
  hn::Store(losses, d, lanes);
  for (const T lane : lanes) {
    sums.loss += static_cast<double>(lane);
  }
  sums.samples = block.rows;
  return sums;
}

template <class T>
LossSums RowBlockLossOf(const RowBlockLoss<T>& loss, const RowBlockLayer<T>& output,
                        const BlockOfRows& block) noexcept {
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<LossSums (*)(const RowBlockLoss<T>&, const RowBlockLayer<T>&, const BlockOfRows&), sizeof...(I)>{
        &LossOfBlock<I, T>...};
  }
  (std::make_index_sequence<std::tuple_size_v<formulas::Losses>>{});
  const LossSums sums = kTable[static_cast<size_t>(loss.args->loss.kind())](loss, output, block);
  const Activation& activation = *output.activation;
  if (loss.args->loss.by_output() && activation.is_softmax()) {
    RowBlockSoftmaxSlope<T>(output.a, output.delta, output.outputs, block.stride);
  } else if (loss.args->loss.by_output()) {
    MultiplySlope(output, SlopeFor<T>(&activation), 0, output.outputs * block.stride);
  }
  return sums;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
