// A walk over blocks of rows of both matrices. On a backend that can, no distance is stored but those that are near.
#include "lamina/layer/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/base/timing.h"
#include "lamina/layer/neighbour_comparisons.h"

namespace lamina {
namespace {

constexpr double kTellEvery_seconds = 0.2;

template <class T, bool kLargest>
class NeighbourWalk {
 public:
  explicit NeighbourWalk(const NeighbourWork& work) : work_(work), comparison_(MakeComparison(work, lists_)) {}

  bool Run() {
    const int64_t step = comparison_->x_rows();
    const int64_t most = kLists_bytes / lists_.Size_bytes(work_.options.k);
    const int64_t rows_at_once = comparison_->keeps_lists() ? step : std::max(step, most / step * step);
    for (int64_t begin = 0; begin < work_.x.rows(); begin += rows_at_once) {
      const int64_t count = std::min(rows_at_once, work_.x.rows() - begin);
      if (!CompareRows(begin, count)) {
        return false;
      }
      Store(begin, count);
    }
    return true;
  }

 private:
  bool CompareRows(int64_t x_begin, int64_t x_count) {
    lists_.Start(x_count, work_.options.k);
    const int64_t y_rows = comparison_->y_rows();
    const int64_t x_rows = comparison_->x_rows();
    for (int64_t y_begin = 0; y_begin < work_.y.rows(); y_begin += y_rows) {
      const int64_t y_count = std::min(y_rows, work_.y.rows() - y_begin);
      const ConstMatrixView y = work_.y.Rows(y_begin, y_count);
      for (int64_t begin = 0; begin < x_count; begin += x_rows) {
        const int64_t count = std::min(x_rows, x_count - begin);
        comparison_->Compare(work_.x.Rows(x_begin + begin, count), y, y_begin, begin);
        Tell(static_cast<double>(count) * static_cast<double>(y_count));
        StopPoint();
        if (work_.callbacks.stop_requested && work_.callbacks.stop_requested()) {
          return false;
        }
      }
      work_.y.Release(y_begin, y_count);
    }
    comparison_->Collect();
    work_.x.Release(x_begin, x_count);
    return true;
  }

  void Tell(double pairs) {
    done_ += pairs;
    if (!work_.callbacks.progress || since_told_.Elapsed_seconds() < kTellEvery_seconds) {
      return;
    }
    since_told_.Restart();
    const double seconds = watch_.Elapsed_seconds();
    const double share = done_ / (static_cast<double>(work_.x.rows()) * static_cast<double>(work_.y.rows()));
    work_.callbacks.progress(
        {share, seconds, seconds / share - seconds, done_ * static_cast<double>(work_.x.cols()) / seconds});
  }

  void Store(int64_t begin, int64_t count) {
    const bool root = work_.options.metric == Synapse::kL2;
    for (int64_t i = 0; i < count; ++i) {
      const std::span<const Near<T>> near = lists_.Finish(i);
      if (std::ssize(near) < work_.options.k) {
        throw Error(ErrorCode::kBadData,
                    fmt::format("row {} of x (counted from 0) has only {} distances that are finite numbers",
                                work_.options.first_row + begin + i, near.size()),
                    {.remedy = "Leave out rows that are not finite."});
      }
      auto* const indices = work_.out.indices.template Row<int64_t>(begin + i);
      for (size_t j = 0; j < near.size(); ++j) {
        indices[j] = near[j].index;
        if (!work_.out.distances.empty()) {
          StoreDistance(near[j].distance, root, begin + i, j);
        }
      }
    }
    if (work_.out.finished) {
      work_.out.finished(begin, count);
    }
  }

  void StoreDistance(T distance, bool root, int64_t row, size_t j) {
    if (!root) {
      work_.out.distances.template Row<T>(row)[j] = distance;
    } else {
      DispatchFloat(work_.out.distances.dtype, [&]<class D>(D) {
        work_.out.distances.template Row<D>(row)[j] = static_cast<D>(std::sqrt(static_cast<double>(distance)));
      });
    }
  }

  const NeighbourWork& work_;
  NearLists<T, kLargest> lists_;
  std::unique_ptr<Comparison<T, kLargest>> comparison_;
  double done_ = 0;  // pairs
  Stopwatch watch_;
  Stopwatch since_told_;
};

template <class T>
bool Walk(const NeighbourWork& work) {
  return work.options.metric == Synapse::kDot ? NeighbourWalk<T, true>(work).Run()
                                              : NeighbourWalk<T, false>(work).Run();
}

}  // namespace

void RequireNeighbours(const RowSource& x, const RowSource& y, const NeighbourOptions& options) {
  if (x.cols() != y.cols() || x.dtype() != y.dtype()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x has {} columns of {} and y {} of {}: columns and types must be the same", x.cols(),
                            DTypeName(x.dtype()), y.cols(), DTypeName(y.dtype())));
  }
  const int64_t k = options.k;
  if (k < 1 || k > NeighbourOptions::kMost || k > y.rows()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} neighbors cannot be found among {} rows", k, y.rows()),
                {.remedy = fmt::format("Ask for 1 to {}.", std::min(NeighbourOptions::kMost, y.rows()))});
  }
}

bool NearestRows(RowSource& x, RowSource& y, const NeighbourOptions& options, const Backend& backend,
                 const NeighbourOutput& out, const SliceCallbacks& callbacks) {
  const NeighbourWork work{x, y, options, backend, out, callbacks};
  RequireNeighbours(x, y, options);
  switch (ComparedType(x.dtype())) {
    case DType::kF64: return Walk<double>(work);
    case DType::kI32: return Walk<int32_t>(work);
    case DType::kI64: return Walk<int64_t>(work);
    default: return Walk<float>(work);
  }
}

}  // namespace lamina
