// The passes of dot layers put onto the product on AMX tiles, and their table.
#if defined(LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_
#endif

#include "lamina/backend/cpu/amx_product-inl.h"
#include "lamina/backend/cpu/bf16_pairs-inl.h"
#include "lamina/backend/cpu/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// How floats become the parts that Tiles multiplies; `length` of them in a sum.
template <class Tiles>
auto FloatParts(int64_t length) {
  return [length]<int... kPart>(std::integer_sequence<int, kPart...>) {
    return std::array{
        Encoding<float>{&EncodeFloatPairs<kPart>, sizeof(float), 2, false, length, &InterleaveFloatPairs<kPart>}...};
  }
  (std::make_integer_sequence<int, kParts<Tiles>>());
}

template <class Tiles>
void ForwardTiles(const ForwardTask<float>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  const auto parts = FloatParts<Tiles>(args.x.cols);
  const AmxProductInput<float> input{
      {{static_cast<const float*>(args.weights.data), args.weights.rows, args.weights.stride, 1}, parts.data()},
      {{static_cast<const float*>(args.x.data), args.x.rows, args.x.stride, 1}, parts.data()},
      CeilDivide(args.x.cols, parts[0].group),
      task.scratch,
      task.budget};
  const ForwardFinish<formulas::DotSynapse, float> finish{&args, task.activation, ValueFor<float>(*task.activation)};
  AmxProduct<Tiles>(input, finish, team);
  if (task.activation->is_softmax()) {
    team.Barrier();
    SoftmaxRows<float>(*task.activation, args.z, args.a, team.Begin(args.a.rows), team.End(args.a.rows));
  }
}

template <class Tiles>
void InputGradientTiles(const InputGradientTask<float>& task, Team team) noexcept {
  const InputGradientArgs& args = *task.args;
  const auto parts = FloatParts<Tiles>(args.delta.cols);
  const AmxProductInput<float> input{
      {{static_cast<const float*>(args.delta.data), args.delta.rows, args.delta.stride, 1}, parts.data()},
      {{static_cast<const float*>(args.weights.data), args.weights.cols, 1, args.weights.stride}, parts.data()},
      CeilDivide(args.delta.cols, parts[0].group),
      task.scratch,
      task.budget};
  const SlopeFinish<float> finish{&args, args.previous == nullptr ? nullptr : SlopeFor<float>(args.previous)};
  AmxProduct<Tiles>(input, finish, team);
}

template <class Tiles>
void WeightGradientTiles(const WeightGradientTask<float>& task, Team team) noexcept {
  const WeightGradientArgs& args = *task.args;
  const int64_t outputs = args.delta.cols;
  const int64_t inputs = args.x.cols;
  const auto parts = FloatParts<Tiles>(args.x.rows);
  const AmxProductInput<float> input{
      {{static_cast<const float*>(args.delta.data), outputs, 1, args.delta.stride}, parts.data()},
      {{static_cast<const float*>(args.x.data), inputs, 1, args.x.stride}, parts.data()},
      CeilDivide(args.x.rows, parts[0].group),
      task.scratch,
      task.budget};
  const UpdateFinish<float> finish{&args.weights, &task.weight_update, UpdateFor<float>(args.rule), inputs};
  AmxProduct<Tiles>(input, finish, team);
  if (args.bias.value != nullptr || args.bias.gradient != nullptr) {
    BiasGradient(task, team.Begin(outputs), team.End(outputs));
  }
}

template <class Tiles>
AmxPasses AmxPassesOf() {
  return {&ForwardTiles<Tiles>, &InputGradientTiles<Tiles>, &WeightGradientTiles<Tiles>, kParts<Tiles>};
}

#endif

inline AmxTable MakeAmxTable() {
  AmxTable table;
#if HWY_TARGET == HWY_AVX3
  table.rounded = AmxPassesOf<RoundedTiles>();
#endif
  return table;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
