// The kernels of f32 and f64 that single rows need beside their own, for the predict library. They compute the parts
// around a product, and layers of few neurons. The texts are those of the whole tables (kernels_f32.cc,
// kernels_f64.cc).
#include "lamina/backend/cpu/highway_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lamina/backend/cpu/predict_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "lamina/backend/cpu/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// DotFor of at most kMost outputs.
template <class Term, class T, int kMost>
HWY_INLINE DotFn<T> FewDotsFor(int64_t outputs) {
  static constexpr auto kTable = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<DotFn<T>, sizeof...(I)>{&DotTile<Term, T, static_cast<int>(I) + 1, 1>...};
  }
  (std::make_index_sequence<static_cast<size_t>(kMost)>{});
  return kTable[static_cast<size_t>(outputs - 1)];
}

// ForwardDots of one sample. Fewer outputs at once have the same sums: products in f32 alone have kernels of all
// widths.
template <class Synapse, class T>
void ForwardDotsOfRow(const ForwardTask<T>& task, Team /*team*/) noexcept {
  const ForwardArgs& args = *task.args;
  T* const sums = args.a.Row<T>(0);
  using Term = typename Synapse::Term;
  constexpr int kMost = std::is_same_v<Synapse, formulas::DotSynapse> && std::is_same_v<T, float> ? kDotOutputs : 3;
  const int64_t groups = CeilDivide(args.weights.rows, int64_t{kMost});
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t o = args.weights.rows * g / groups;
    const int64_t outputs = args.weights.rows * (g + 1) / groups - o;
    FewDotsFor<Term, T, kMost>(outputs)(
        {args.weights.Row<T>(o), args.weights.stride, args.x.Row<T>(0), args.x.stride, args.x.cols, sums + o, 0});
  }
  FinishDots<Synapse>(task, 0, 1, 0, args.weights.rows);
  if (task.activation->is_softmax()) {
    SoftmaxRows<T>(args.z, args.a, 0, 1);
  }
}

template <class T>
const KernelTable<T>& TableOfRows() {
  static const KernelTable<T> kTable = [] {
    KernelTable<T> table{};
    table.target = hwy::TargetName(HWY_TARGET);
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((table.synapses[kIndex].forward_dots = &ForwardDotsOfRow<std::tuple_element_t<kIndex, formulas::Synapses>, T>),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<formulas::Synapses>>());
    table.activate = &Activate<T>;
    return table;
  }();
  return kTable;
}
const KernelTable<float>& RowsF32() { return TableOfRows<float>(); }
const KernelTable<double>& RowsF64() { return TableOfRows<double>(); }

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lamina::cpu {
HWY_EXPORT(RowsF32);
HWY_EXPORT(RowsF64);
template <>
const KernelTable<float>& Kernels<float>() {
  return HWY_DYNAMIC_DISPATCH(RowsF32)();
}
template <>
const KernelTable<double>& Kernels<double>() {
  return HWY_DYNAMIC_DISPATCH(RowsF64)();
}
}  // namespace lamina::cpu
#endif
