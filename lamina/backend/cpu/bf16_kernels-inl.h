// Passes of f32 dot layers with bf16 operands: the blocked product over operands that are rounded while packed. They
// stay in pairs where one instruction multiplies pairs; else they are widened again.
#if defined(LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_BF16_KERNELS_INL_H_
#endif

#include "lamina/backend/cpu/bf16_pairs-inl.h"
#include "lamina/backend/cpu/bf16_round-inl.h"
#include "lamina/backend/cpu/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// Along a row, one a lane.
inline void EncodeRounded(const void* from, int64_t count, float* to, int64_t lanes) {
  RoundArrayToBFloat16(static_cast<const float*>(from), count, to);
  std::fill(to + count, to + lanes, 0.0F);
}

inline void InterleaveRounded(const void* first, const void* /*second*/, int64_t count, float* to) {
  EncodeRounded(first, count, to, count);
}

/// Operands rounded and widened: the sums of exact f32.
struct WidenedOperands {
  using Sum = TermSum<formulas::DotSynapse::Term>;
  static Encoding<float> Encode(int64_t length) {
    return {&EncodeRounded, sizeof(float), 1, false, length, &InterleaveRounded};
  }
};

template <class Operands>
void ForwardMixed(const ForwardTask<float>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  const Encoding<float> encoding = Operands::Encode(args.x.cols);
  const ProductInput<float> input{
      {static_cast<const float*>(args.weights.data), args.weights.rows, args.weights.stride, 1, &encoding},
      {static_cast<const float*>(args.x.data), args.x.rows, args.x.stride, 1, &encoding},
      CeilDivide(args.x.cols, encoding.group),
      task.scratch,
      task.budget};
  const ForwardFinish<formulas::DotSynapse, float> finish{&args, task.activation, ValueFor<float>(*task.activation)};
  Product<typename Operands::Sum>(input, finish, team);
  if (task.activation->is_softmax()) {
    team.Barrier();
    SoftmaxRows<float>(args.z, args.a, team.Begin(args.a.rows), team.End(args.a.rows));
  }
}

template <class Operands>
void InputGradientMixed(const InputGradientTask<float>& task, Team team) noexcept {
  const InputGradientArgs& args = *task.args;
  const Encoding<float> encoding = Operands::Encode(args.delta.cols);
  const ProductInput<float> input{
      {static_cast<const float*>(args.delta.data), args.delta.rows, args.delta.stride, 1, &encoding},
      {static_cast<const float*>(args.weights.data), args.weights.cols, 1, args.weights.stride, &encoding},
      CeilDivide(args.delta.cols, encoding.group),
      task.scratch,
      task.budget};
  const SlopeFinish<float> finish{&args, args.previous == nullptr ? nullptr : SlopeFor<float>(args.previous)};
  Product<typename Operands::Sum>(input, finish, team);
}

template <class Operands>
void WeightGradientMixed(const WeightGradientTask<float>& task, Team team) noexcept {
  const WeightGradientArgs& args = *task.args;
  const int64_t outputs = args.delta.cols;
  const int64_t inputs = args.x.cols;
  const Encoding<float> encoding = Operands::Encode(args.x.rows);
  const ProductInput<float> input{
      {static_cast<const float*>(args.delta.data), outputs, 1, args.delta.stride, &encoding},
      {static_cast<const float*>(args.x.data), inputs, 1, args.x.stride, &encoding},
      CeilDivide(args.x.rows, encoding.group),
      task.scratch,
      task.budget};
  const UpdateFinish<float> finish = UpdateFinishOf(task);
  Product<typename Operands::Sum>(input, finish, team);
  if (args.bias.value != nullptr || args.bias.gradient != nullptr) {
    BiasGradient(task, team.Begin(outputs), team.End(outputs));
  }
}

template <class Operands>
void AddGramMixed(const GramTask<float>& task) noexcept {
  const Encoding<float> encoding = Operands::Encode(task.h->rows);
  AddGram<typename Operands::Sum, float>(task, &encoding);
}

template <class Operands>
BFloat16Passes BFloat16PassesOf() {
  return {&ForwardMixed<Operands>, &InputGradientMixed<Operands>, &WeightGradientMixed<Operands>,
          &AddGramMixed<Operands>};
}

inline BFloat16Table MakeBFloat16Table() {
  BFloat16Table table;
  table.widened = BFloat16PassesOf<WidenedOperands>();
#if HWY_TARGET == HWY_AVX3
  table.pairs = BFloat16PassesOf<PairedOperands>();
#endif
  return table;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
