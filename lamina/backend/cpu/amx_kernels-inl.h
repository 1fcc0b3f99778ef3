// The passes of dot layers put onto the product on AMX tiles, and their table.
#if defined(LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_AMX_KERNELS_INL_H_
#endif

#include "lamina/backend/cpu/amx_product-inl.h"
#include "lamina/backend/cpu/bf16_pairs-inl.h"
#include "lamina/backend/cpu/group_finish-inl.h"
#include "lamina/backend/cpu/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

/// How floats (f16: along a row only) become the parts that Tiles multiplies; `length` of them in a sum.
template <class Tiles, class E = float>
auto FloatParts(int64_t length) {
  return [length]<int... kPart>(std::integer_sequence<int, kPart...>) {
    constexpr bool kHalf = std::is_same_v<E, Float16>;
    return std::array{Encoding<float>{kHalf ? &EncodeHalfPairs<kPart> : &EncodeFloatPairs<kPart>, sizeof(E), 2, false,
                                      length, kHalf ? nullptr : &InterleaveFloatPairs<kPart>}...};
  }
  (std::make_integer_sequence<int, kParts<Tiles>>());
}

template <class Tiles, class E = float>
void ForwardTiles(const ForwardTask<float>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  const auto parts = FloatParts<Tiles, E>(args.x.cols);
  const AmxProductInput<float> input{
      {{static_cast<const float*>(args.weights.data), args.weights.rows, args.weights.stride, 1}, parts.data()},
      {{static_cast<const float*>(args.x.data), args.x.rows, args.x.stride, 1}, parts.data()},
      CeilDivide(args.x.cols, parts[0].group),
      task.scratch,
      task.budget};
  const ForwardFinish<formulas::DotSynapse, float> finish{&args, task.activation, ValueFor<float>(*task.activation)};
  AmxProduct<Tiles>(input, finish, team);
  FinishSoftmax<float>(task, team);
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
  const UpdateFinish<float> finish = UpdateFinishOf(task);
  AmxProduct<Tiles>(input, finish, team);
  if (args.bias.value != nullptr || args.bias.gradient != nullptr) {
    BiasGradient(task, team.Begin(outputs), team.End(outputs));
  }
}

template <class Tiles>
AmxPasses AmxPassesOf() {
  return {&ForwardTiles<Tiles>, &InputGradientTiles<Tiles>, &WeightGradientTiles<Tiles>, kParts<Tiles>};
}

// A forward pass on operands stored as the instruction takes them, kBytes an element.
template <class Tiles, int kBytes, class Finish, class T = typename Tiles::Lane>
void ForwardStored(const ForwardTask<T>& task, const Finish& finish, Team team) {
  const ForwardArgs& args = *task.args;
  constexpr int64_t kGroup = static_cast<int64_t>(sizeof(T)) / kBytes;
  const Encoding<T> encoding{&EncodeBits<T, kBytes>, kBytes, kGroup, true, args.x.cols};
  const AmxProductInput<T> input{
      {{static_cast<const T*>(args.weights.data), args.weights.rows, args.weights.stride, 1}, &encoding},
      {{static_cast<const T*>(args.x.data), args.x.rows, args.x.stride, 1}, &encoding},
      CeilDivide(args.x.cols, kGroup),
      task.scratch,
      task.budget};
  AmxProduct<Tiles>(input, finish, team);
  FinishSoftmax<float>(task, team);
}

inline void ForwardBFloat16(const ForwardTask<float>& task, Team team) noexcept {
  const ForwardFinish<formulas::DotSynapse, float> finish{task.args, task.activation,
                                                          ValueFor<float>(*task.activation)};
  ForwardStored<RoundedTiles, 2>(task, finish, team);
}

template <bool kSigned>
void ForwardBytes(const ForwardTask<int32_t>& task, Team team) noexcept {
  const IntegerFinish<formulas::DotSynapse, int32_t, float> finish{
      {task.args, task.activation, ValueFor<float>(*task.activation)}, nullptr};
  ForwardStored<ByteTiles<kSigned>, 1>(task, finish, team);
}

#endif

inline AmxTable MakeAmxTable() {
  AmxTable table;
#if HWY_TARGET == HWY_AVX3
  table.rounded = AmxPassesOf<RoundedTiles>();
  table.split = AmxPassesOf<SplitTiles>();
  table.whole = AmxPassesOf<WholeTiles>();
  table.forward_bf16 = &ForwardBFloat16;
  table.forward_f16 = &ForwardTiles<WholeHalfTiles, Float16>;
  table.f16_parts = kParts<WholeHalfTiles>;
  table.forward_i8 = &ForwardBytes<true>;
  table.forward_u8 = &ForwardBytes<false>;
#endif
  return table;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
