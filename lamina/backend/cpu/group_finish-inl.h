// How the sums of forward passes on groups become outputs: softmax once all are there, and exact sums of integers.
#if defined(LAMINA_BACKEND_CPU_GROUP_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_GROUP_FINISH_INL_H_
#undef LAMINA_BACKEND_CPU_GROUP_FINISH_INL_H_
#else
#define LAMINA_BACKEND_CPU_GROUP_FINISH_INL_H_
#endif

#include "lamina/backend/cpu/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// Softmax of the whole rows, once all threads have stored their part.
template <class Out, class T>
void FinishSoftmax(const ForwardTask<T>& task, Team team) {
  const ForwardArgs& args = *task.args;
  if (task.activation->is_softmax() && !args.a.empty()) {
    team.Barrier();
    SoftmaxRows<Out>(args.z, args.a, team.Begin(args.a.rows), team.End(args.a.rows));
  }
}

// Shifted sums may leave the type and come back with the correction.
template <class T>
HWY_INLINE T WrappingAdd(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}

/// Integer sums: corrected, stored as they are where wanted, and finished as numbers of type Out.
template <class Synapse, class T, class Out>
struct IntegerFinish {
  static constexpr int kRowTiles = ForwardFinish<Synapse, Out>::kRowTiles;

  ForwardFinish<Synapse, Out> finish;
  const T* corrections;  // one for each output, added; or null

  bool sums_only() const {
    const ForwardArgs& args = *finish.args;
    return args.a.empty() && args.z.empty() && args.distance.empty();
  }
  void Prefetch(const TilePlace& at) const {
    if (!finish.args->a.empty()) {
      finish.Prefetch(at);
    }
  }
  void operator()(T* tile, const TilePlace& at) const {
    for (int64_t i = 0; corrections != nullptr && i < at.rows; ++i) {
      for (int64_t j = 0; j < at.width; ++j) {
        tile[i * at.width + j] = WrappingAdd(tile[i * at.width + j], corrections[at.row + i]);
      }
    }
    const MatrixView& sums = finish.args->sums;
    if (!sums.empty() && sums.dtype == DType::kI32) {
      StoreExact<int32_t>(tile, at, sums);
    } else if (!sums.empty()) {
      StoreExact<int64_t>(tile, at, sums);
    }
    if (sums_only()) {
      return;
    }
    constexpr int64_t kMostWidth = RoundUp(kTileColumns<T>, kLanes<Out>);
    HWY_ALIGN Out out[kRowTiles * kTileRows * kMostWidth];
    TilePlace out_at = at;
    out_at.width = RoundUp(at.width, kLanes<Out>);
    for (int64_t i = 0; i < at.rows; ++i) {
      for (int64_t j = 0; j < at.width; ++j) {
        out[i * out_at.width + j] = static_cast<Out>(tile[i * at.width + j]);
      }
      std::fill(out + i * out_at.width + at.width, out + (i + 1) * out_at.width, Out(0));
    }
    finish(out, out_at);
  }

 private:
  template <class S>
  static void StoreExact(const T* tile, const TilePlace& at, const MatrixView& to) {
    for (int64_t j = 0; j < at.columns; ++j) {
      S* row = to.Row<S>(at.column + j) + at.row;
      for (int64_t i = 0; i < at.rows; ++i) {
        row[i] = static_cast<S>(tile[i * at.width + j]);
      }
    }
  }
};

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
