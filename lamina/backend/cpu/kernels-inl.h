// The entry points of one instruction set: layer passes put onto the blocked product, and their table.
#if defined(LAMINA_BACKEND_CPU_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_KERNELS_INL_H_
#undef LAMINA_BACKEND_CPU_KERNELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_KERNELS_INL_H_
#endif

#include "lamina/backend/cpu/dots-inl.h"
#include "lamina/backend/cpu/product-inl.h"
#include "lamina/backend/cpu/reduce-inl.h"
#include "lamina/backend/cpu/registers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// Whether forward packs the weights, not the samples. What is packed fills whole vectors as columns of the product;
// rows are broadcast where they are. In units of one multiply-add, packing an element costs 8, and a result of packed
// samples kTurning, as it is turned. Packing weights is 1.3 times as fast for 8192 samples and 64 outputs, 1.5 times
// for 17 samples.
template <class Sum, class T>
bool PacksWeights(const ProductInput<T>& weights_packed, Team team) {
  constexpr int64_t kPacking = 8;
  constexpr int64_t kTurning = 16;
  const int64_t depth = std::max<int64_t>(1, weights_packed.depth);
  const int64_t samples = weights_packed.rows.count;
  const int64_t outputs = weights_packed.columns.count;
  const int64_t cost = samples * RoundUp(outputs, kLanes<T>) + outputs * kPacking;
  const int64_t cost_of_packed_samples =
      outputs * RoundUp(samples, kLanes<T>) + samples * kPacking + samples * outputs * kTurning / depth;
  // For few samples only those that stay in the second-level cache, or panel by panel, into memory that every thread
  // has for one. Rows of sums in parts are as quick in place (17 to 40 samples: 0.91 to 1.26).
  const bool undivided = weights_packed.depth <= weights_packed.budget.depth;
  const bool stay = outputs * weights_packed.depth <= weights_packed.budget.column_block;
  const bool own_panels = HWY_TARGET != HWY_SCALAR && HasOwnPanels<Sum>(weights_packed, team);  // as in Product()
  return cost <= cost_of_packed_samples && (samples >= outputs || (undivided && (stay || own_panels)));
}

// Every sum has the same bits whichever operand is packed.
template <class Synapse, class T>
void Forward(const ForwardTask<T>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  using Sum = TermSum<typename Synapse::Term>;
  const Operand<T> weights{static_cast<const T*>(args.weights.data), args.weights.rows, args.weights.stride, 1};
  const Operand<T> x{static_cast<const T*>(args.x.data), args.x.rows, args.x.stride, 1};
  const ValueFn<T> value = ValueFor<T>(*task.activation);
  ProductInput<T> weights_packed{x, weights, args.x.cols, task.scratch, task.budget};
  ProductInput<T> samples_packed{weights, x, args.x.cols, task.scratch, task.budget};
  samples_packed.skips_zeros = Sum::kSkipsZeros && SkipsZeros(samples_packed);
  weights_packed.skips_zeros = Sum::kSkipsZeros && !samples_packed.skips_zeros && SkipsZeros(weights_packed);
  if (weights_packed.skips_zeros || (!samples_packed.skips_zeros && PacksWeights<Sum>(weights_packed, team))) {
    Product<Sum>(weights_packed, ForwardFinish<Synapse, T, false>{&args, task.activation, value, task.slopes}, team);
  } else {
    Product<Sum>(samples_packed, ForwardFinish<Synapse, T>{&args, task.activation, value, task.slopes}, team);
  }
  if (task.activation->is_softmax()) {
    team.Barrier();
    SoftmaxRows<T, true>(args.z, args.a, team.Begin(args.a.rows), team.End(args.a.rows));
  }
}

template <class Synapse, class T>
void ForwardDots(const ForwardTask<T>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  const int64_t batch = args.x.rows;
  const int64_t outputs = args.weights.rows;
  if (batch >= outputs) {
    DotsBlock<Synapse>(task, team.Begin(batch), team.End(batch), 0, outputs);
  } else {
    DotsBlock<Synapse>(task, 0, batch, team.Begin(outputs), team.End(outputs));
  }
  if (task.activation->is_softmax()) {
    team.Barrier();
    SoftmaxRows<T, true>(args.z, args.a, team.Begin(batch), team.End(batch));
  }
}

// ScaleDelta of a batch, written to scratch where the synapse has one. Ends with a barrier where it writes.
template <class Synapse, class T>
ConstMatrixView ScaledDelta(const ConstMatrixView& delta, const ConstMatrixView& distance, T* scratch, Team team) {
  if constexpr (!Synapse::kScalesDelta) {
    return delta;
  } else {
    for (int64_t i = team.Begin(delta.rows); i < team.End(delta.rows); ++i) {
      const T* const row = delta.Row<T>(i);
      const auto scale = [](VecOf<T> g, VecOf<T> at)
                             HWY_ATTR { return Synapse::ScaleDelta(Pack<T>(g), Pack<T>(at)).v; };
      Transform<T>(delta.cols, scratch + i * delta.cols, scale, row,
                   Synapse::kNeedsDistance ? distance.Row<T>(i) : row);
    }
    team.Barrier();
    return {scratch, delta.rows, delta.cols, delta.cols, delta.dtype, delta.space};
  }
}

template <class Synapse, class T>
void InputGradient(const InputGradientTask<T>& task, Team team) noexcept {
  const InputGradientArgs& args = *task.args;
  const ConstMatrixView delta = ScaledDelta<Synapse>(args.delta, args.distance, task.scratch.rest, team);
  const ProductInput<T> input{{static_cast<const T*>(delta.data), delta.rows, delta.stride, 1},
                              {static_cast<const T*>(args.weights.data), args.weights.cols, 1, args.weights.stride},
                              delta.cols,
                              task.scratch,
                              task.budget,
                              static_cast<const T*>(args.x.data),
                              args.x.stride};
  const SlopeFinish<T> finish{&args, args.previous == nullptr ? nullptr : SlopeFor<T>(args.previous), task.slopes};
  Product<SlopeSum<typename Synapse::Term>>(input, finish, team);
}

// Gradient of the bias for outputs [begin, end): sums of the columns of delta, four vectors at a time.
template <class T>
void BiasGradient(const WeightGradientTask<T>& task, int64_t begin, int64_t end) {
  const Tag<T> d;
  const WeightGradientArgs& args = *task.args;
  const UpdateFn<T> update = UpdateFor<T>(args.rule);
  constexpr int64_t kWidth = 4 * kLanes<T>;
  HWY_ALIGN T sums[kWidth];
  for (int64_t j = begin; j < end; j += kWidth) {
    const int64_t count = std::min(kWidth, end - j);
    if (count == kWidth) {
      auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
      for (int64_t i = 0; i < args.delta.rows; ++i) {
        const T* row = args.delta.Row<T>(i) + j;
        s0 = hn::Add(s0, hn::LoadU(d, row));
        s1 = hn::Add(s1, hn::LoadU(d, row + kLanes<T>));
        s2 = hn::Add(s2, hn::LoadU(d, row + 2 * kLanes<T>));
        s3 = hn::Add(s3, hn::LoadU(d, row + 3 * kLanes<T>));
      }
      hn::Store(s0, d, sums);
      hn::Store(s1, d, sums + kLanes<T>);
      hn::Store(s2, d, sums + 2 * kLanes<T>);
      hn::Store(s3, d, sums + 3 * kLanes<T>);
    } else {
      std::fill_n(sums, kWidth, T(0));
      for (int64_t i = 0; i < args.delta.rows; ++i) {
        Transform<T>(
            count, sums, [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Add(a, b); }, static_cast<const T*>(sums),
            args.delta.Row<T>(i) + j);
      }
    }
    update(task.bias_update, {sums, 0, j, 0, 1, count}, args.bias);
  }
}

// Up to how many samples WeightGradientByRows is the faster one (1024 x 784, one thread, against tiles: 1
// sample 50 to 82 us, 2 samples 72 to 88, 4 samples 118 to 100).
inline constexpr int64_t kFewSamples = 2;

// Weight gradient of one or two samples for outputs [begin, end): row after row of the weights, as they lie
// in memory. Tiles of 8 rows × 48 columns are 8 broken streams from the cache.
template <class Term, class T>
void WeightGradientByRows(const WeightGradientTask<T>& task, const ConstMatrixView& delta, int64_t begin, int64_t end) {
  const Tag<T> d;
  const WeightGradientArgs& args = *task.args;
  const UpdateFn<T> update = UpdateFor<T>(args.rule);
  const int64_t inputs = args.x.cols;
  constexpr int64_t kPart = 32 * kLanes<T>;
  HWY_ALIGN T g[kPart];
  for (int64_t j = begin; j < end; ++j) {
    for (int64_t k = 0; k < inputs; k += kPart) {
      const int64_t n = std::min(kPart, inputs - k);
      for (int64_t i = 0; i < args.x.rows; ++i) {
        const auto scale = hn::Set(d, delta.Row<T>(i)[j]);
        const T* x = args.x.Row<T>(i) + k;
        const T* own = Term::kIsDistance ? static_cast<const T*>(args.weights.value) + j * inputs + k : x;
        const auto add = [&](VecOf<T> xv, VecOf<T> wv, VecOf<T> sum) HWY_ATTR {
          return Term::AccumulateSlope(Pack<T>(scale), Pack<T>(wv), Pack<T>(xv), Pack<T>(sum)).v;
        };
        if (i == 0) {
          Transform<T>(
              n, g, [&](VecOf<T> xv, VecOf<T> wv) HWY_ATTR { return add(xv, wv, hn::Zero(d)); }, x, own);
        } else {
          Transform<T>(n, g, add, x, own, static_cast<const T*>(g));
        }
      }
      update(task.weight_update, {g, 0, j * inputs + k, 0, 1, n}, args.weights);
    }
  }
}

template <class Synapse, class T>
void WeightGradient(const WeightGradientTask<T>& task, Team team) noexcept {
  using Term = typename Synapse::Term;
  const WeightGradientArgs& args = *task.args;
  const int64_t outputs = args.delta.cols;
  const int64_t inputs = args.x.cols;
  const ConstMatrixView delta = ScaledDelta<Synapse>(args.delta, args.distance, task.scratch.rest, team);
  ProductInput<T> input{{static_cast<const T*>(delta.data), outputs, 1, delta.stride},
                        {static_cast<const T*>(args.x.data), inputs, 1, args.x.stride},
                        args.x.rows,
                        task.scratch,
                        task.budget,
                        static_cast<const T*>(args.weights.value),
                        inputs};
  UpdateFinish<T> finish = UpdateFinishOf(task);
  if constexpr (!Term::kIsDistance) {
    finish.in_place = TilesInPlaceFor<SlopeSum<Term>, T>(args.rule);
  }
  if (args.x.rows >= 1 && args.x.rows <= kFewSamples) {
    WeightGradientByRows<Term>(task, delta, team.Begin(outputs), team.End(outputs));
  } else {
    input.skips_zeros = SlopeSum<Term>::kSkipsZeros && SkipsZeros(input);
    Product<SlopeSum<Term>>(input, finish, team);
  }
  if (args.bias.value != nullptr || args.bias.gradient != nullptr) {
    BiasGradient(task, team.Begin(outputs), team.End(outputs));
  }
}

template <class T>
void Activate(const ForwardTask<T>& task, Team team) noexcept {
  const ForwardArgs& args = *task.args;
  FinishDots<formulas::DotSynapse>(task, team.Begin(args.a.rows), team.End(args.a.rows), 0, args.a.cols);
  if (task.activation->is_softmax()) {
    SoftmaxRows<T>(args.z, args.a, team.Begin(args.a.rows), team.End(args.a.rows));
  }
}

template <class T>
void MultiplySlope(const InputGradientTask<T>& task, Team team) noexcept {
  const InputGradientArgs& args = *task.args;
  if (args.previous == nullptr) {
    return;
  }
  const SlopeFn<T> slope = SlopeFor<T>(args.previous);
  for (int64_t i = team.Begin(args.out.rows); i < team.End(args.out.rows); ++i) {
    T* g = args.out.Row<T>(i);
    slope(*args.previous, args.previous_z.empty() ? nullptr : args.previous_z.Row<T>(i), args.x.Row<T>(i), g, g,
          args.out.cols);
  }
}

template <class T>
void Update(const WeightGradientTask<T>& task, Team team) noexcept {
  const WeightGradientArgs& args = *task.args;
  const int64_t count = args.delta.cols * args.x.cols;
  if (args.rule != nullptr) {
    const int64_t begin = team.Begin(count);
    const T* g = static_cast<const T*>(args.weights.gradient) + begin;
    UpdateFor<T>(args.rule)(task.weight_update, {g, 0, begin, 0, 1, team.End(count) - begin}, args.weights);
  }
  if (args.bias.value != nullptr || args.bias.gradient != nullptr) {
    BiasGradient(task, team.Begin(args.delta.cols), team.End(args.delta.cols));
  }
}

template <class T>
const KernelTable<T>& Table() {
  static constexpr auto kSynapses = []<class... S>(std::tuple<S...>*) {
    return std::array<SynapseKernels<T>, sizeof...(S)>{
        SynapseKernels<T>{&Forward<S, T>, &ForwardDots<S, T>, &InputGradient<S, T>, &WeightGradient<S, T>,
                          &SearchNear<S, T>, &RegisterSums<TermSum<typename S::Term>, T>}...};
  }(static_cast<formulas::Synapses*>(nullptr));
  static const KernelTable<T> kTable{hwy::TargetName(HWY_TARGET),
                                     {kTileRows, kTileVectors, kLanes<T>},
                                     {kPickingRows, kTileVectors, kLanes<T>},
                                     kSynapses,
                                     &AddGramOf<T>,
                                     &Activate<T>,
                                     &MultiplySlope<T>,
                                     &Update<T>};
  return kTable;
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
