// Finishes that store no results: those that are near are told, or all are added up.
#if defined(LAMINA_BACKEND_CPU_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_REDUCE_INL_H_
#undef LAMINA_BACKEND_CPU_REDUCE_INL_H_
#else
#define LAMINA_BACKEND_CPU_REDUCE_INL_H_
#endif

#include "lamina/backend/cpu/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// As ForwardFinish, rows are outputs and columns samples: a vector of results meets the limits of as many samples.
template <class Synapse, class T>
struct NearFinish {
  static constexpr int kRowTiles = 1;
  static constexpr bool kLargest = !Synapse::Term::kIsDistance;

  const NearArgs* args;

  void Prefetch(const TilePlace&) const {}
  void operator()(T* tile, const TilePlace& at) const {
    const Tag<T> d;
    FinishSums<Synapse>(tile, at.rows * at.width);
    const T* const limits = static_cast<const T*>(args->limits) + at.column;
    for (int64_t j = 0; j < at.columns; j += kLanes<T>) {
      const int64_t count = std::min(kLanes<T>, at.columns - j);
      // Lanes behind the last sample have nothing near: of zeros no sum of terms is below 0, and no product above.
      const auto limit = count == kLanes<T> ? hn::LoadU(d, limits + j) : LoadTail<T>(limits + j, count);
      auto near = IsNear(hn::Load(d, tile + j), limit);
      for (int64_t i = 1; i < at.rows; ++i) {
        near = hn::Or(near, IsNear(hn::Load(d, tile + i * at.width + j), limit));
      }
      if (!hn::AllFalse(d, near)) {
        Tell(tile + j, at, j, count);
      }
    }
  }

 private:
  static HWY_INLINE auto IsNear(VecOf<T> sum, VecOf<T> limit) {
    if constexpr (kLargest) {
      return hn::Gt(sum, limit);
    } else {
      return hn::Lt(sum, limit);
    }
  }

  // Rare beside the comparisons.
  HWY_NOINLINE void Tell(const T* sums, const TilePlace& at, int64_t first, int64_t count) const {
    const T* const limits = static_cast<const T*>(args->limits) + at.column + first;
    for (int64_t i = 0; i < at.rows; ++i) {
      for (int64_t j = 0; j < count; ++j) {
        const T sum = sums[i * at.width + j];
        if (kLargest ? sum > limits[j] : sum < limits[j]) {
          args->found(args->context, at.column + first + j, at.row + i, static_cast<double>(sum));
        }
      }
    }
  }
};

template <class Synapse, class T>
void SearchNear(const NearTask<T>& task) noexcept {
  const NearArgs& args = *task.args;
  const ProductInput<T> input{{static_cast<const T*>(args.weights.data), args.weights.rows, args.weights.stride, 1},
                              {static_cast<const T*>(args.x.data), args.x.rows, args.x.stride, 1},
                              args.x.cols,
                              task.scratch,
                              task.budget};
  Product<TermSum<typename Synapse::Term>>(input, NearFinish<Synapse, T>{&args}, Team{});
}

/// Rows and columns are the columns of one matrix; the results on and below the diagonal are added in f64.
template <class T>
struct GramFinish {
  static constexpr int kRowTiles = 1;

  MatrixView gram;
  int64_t first_row;  // of gram, where the rows of the product begin

  bool Wants(const TilePlace& at) const { return at.column < first_row + at.row + at.rows; }
  void Prefetch(const TilePlace& at) const {
    KeepCalls();
    for (int64_t i = 0; Wants(at) && i < at.rows; ++i) {
      for (int64_t j = 0; j < at.columns; j += kLineElements<double>) {
        __builtin_prefetch(RowAt(at, i) + j, 1);
      }
    }
  }
  void operator()(const T* tile, const TilePlace& at) const {
    for (int64_t i = 0; i < at.rows; ++i) {
      const int64_t count = std::min(at.columns, first_row + at.row + i + 1 - at.column);
      const T* const sums = tile + i * at.width;
      double* const to = RowAt(at, i);
      for (int64_t j = 0; j < count; ++j) {
        to[j] += static_cast<double>(sums[j]);
      }
    }
  }

 private:
  double* RowAt(const TilePlace& at, int64_t i) const { return gram.Row<double>(first_row + at.row + i) + at.column; }
};

/// The part [task.begin, task.end) of the rows of h'h.
template <class Sum, class T>
void AddGram(const GramTask<T>& task, const Encoding<T>* encoding) noexcept {
  const ConstMatrixView& h = *task.h;
  const T* const data = static_cast<const T*>(h.data);
  const ProductInput<T> input{{data + task.begin, task.end - task.begin, 1, h.stride, encoding},
                              {data, task.end, 1, h.stride, encoding},
                              encoding == nullptr ? h.rows : CeilDivide(h.rows, encoding->group),
                              task.scratch,
                              task.budget};
  Product<Sum>(input, GramFinish<T>{*task.gram, task.begin}, Team{});
}

template <class T>
void AddGramOf(const GramTask<T>& task) noexcept {
  AddGram<TermSum<formulas::DotSynapse::Term>, T>(task, nullptr);
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
