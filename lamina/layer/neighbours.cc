// A walk over blocks of rows of both matrices. What has been nearest to a row so far is a short list that may grow to
// twice k before it is cut back; its k-th distance keeps almost all others out, by one comparison each.
#include "lamina/layer/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "lamina/backend/staged_layer.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

constexpr int64_t kBlockRows = 512;  // of either matrix
constexpr int64_t kLists_bytes = 64 << 20;
constexpr double kTellEvery_seconds = 0.2;

// Of integers the sums, which are exact.
bool ReadsSums(DType dtype) { return IsInteger(dtype); }

// l2 by its square: the same order, without a root and the ties that it makes.
Synapse Compared(Synapse metric) { return metric == Synapse::kL2 ? Synapse::kL2Squared : metric; }

DType ComparedType(DType dtype) { return ReadsSums(dtype) ? SumType(dtype) : OutputType(dtype); }

double LargestOfRows(RowSource& rows) {
  double largest = 0;
  for (int64_t begin = 0; begin < rows.rows(); begin += kBlockRows) {
    const int64_t count = std::min(kBlockRows, rows.rows() - begin);
    largest = std::max(largest, LargestMagnitude(rows.Rows(begin, count)));
    rows.Release(begin, count);
  }
  return largest;
}

LayerPlanRequest RequestFor(RowSource& x, RowSource& y, Synapse metric) {
  LayerPlanRequest request;
  request.layer = {x.cols(), std::min(kBlockRows, y.rows()), Compared(metric), Activation(), /*bias=*/false};
  request.dtype = x.dtype();
  request.max_batch = std::min(kBlockRows, std::max<int64_t>(1, x.rows()));
  request.any_slicing = true;
  if (IsInteger(x.dtype())) {
    request.largest_x = LargestOfRows(x);
    request.largest_w = LargestOfRows(y);
  }
  return request;
}

template <class T>
struct Near {
  T distance;
  int64_t index;
};

// The nearest of one row so far.
template <class T, bool kLargest>
class NearList {
 public:
  static bool IsNearer(T a, T b) { return kLargest ? a > b : a < b; }
  static bool IsBefore(const Near<T>& a, const Near<T>& b) {
    return IsNearer(a.distance, b.distance) || (a.distance == b.distance && a.index < b.index);
  }
  static constexpr T Farthest() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) {
      return kLargest ? -Limits::infinity() : Limits::infinity();
    }
    return kLargest ? Limits::lowest() : Limits::max();
  }

  // Distances to rows begin, begin + 1, ..., which are behind all before: of equal ones the first stays.
  void Add(const T* distances, int64_t count, int64_t begin, int64_t k) {
    constexpr int64_t kStep = 16;
    for (int64_t j = 0; j < count; j += kStep) {
      const int64_t end = std::min(j + kStep, count);
      int nearer = 0;
      if (end - j == kStep) {
        for (int64_t i = 0; i < kStep; ++i) {
          nearer |= static_cast<int>(IsNearer(distances[j + i], limit_));
        }
        if (nearer == 0) {
          continue;
        }
      }
      for (int64_t i = j; i < end; ++i) {
        if (IsNearer(distances[i], limit_)) {
          near_.push_back({distances[i], begin + i});
          if (std::ssize(near_) == 2 * k) {
            Cut(k);
          }
        }
      }
    }
  }

  // The k nearest, in order.
  std::vector<Near<T>>& Finish(int64_t k) {
    std::sort(near_.begin(), near_.end(), &IsBefore);
    near_.resize(static_cast<size_t>(std::min(k, std::ssize(near_))));
    return near_;
  }

 private:
  void Cut(int64_t k) {
    std::nth_element(near_.begin(), near_.begin() + (k - 1), near_.end(), &IsBefore);
    near_.resize(static_cast<size_t>(k));
    limit_ = near_.back().distance;
  }

  T limit_ = Farthest();
  std::vector<Near<T>> near_;
};

struct NeighbourWork {
  RowSource& x;
  RowSource& y;
  const NeighbourOptions& options;
  const Backend& backend;
  const NeighbourOutput& out;
  const SliceCallbacks& callbacks;
};

template <class T, bool kLargest>
class NeighbourWalk {
 public:
  explicit NeighbourWalk(const NeighbourWork& work)
      : work_(work),
        layer_(work.backend, RequestFor(work.x, work.y, work.options.metric)),
        block_(kBlockRows, kBlockRows, DTypeOf<T>()) {}

  bool Run() {
    const int64_t list_bytes = 2 * work_.options.k * static_cast<int64_t>(sizeof(Near<T>));
    const int64_t rows_at_once = std::max(kBlockRows, kLists_bytes / list_bytes / kBlockRows * kBlockRows);
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
    lists_.assign(static_cast<size_t>(x_count), {});
    for (int64_t y_begin = 0; y_begin < work_.y.rows(); y_begin += kBlockRows) {
      const int64_t y_count = std::min(kBlockRows, work_.y.rows() - y_begin);
      const ConstMatrixView y = work_.y.Rows(y_begin, y_count);
      for (int64_t begin = 0; begin < x_count; begin += kBlockRows) {
        Compare(x_begin + begin, std::min(kBlockRows, x_count - begin), y, y_begin, begin);
        if (work_.callbacks.stop_requested && work_.callbacks.stop_requested()) {
          return false;
        }
      }
      work_.y.Release(y_begin, y_count);
    }
    work_.x.Release(x_begin, x_count);
    return true;
  }

  void Compare(int64_t x_begin, int64_t x_count, ConstMatrixView y, int64_t y_begin, int64_t list) {
    ForwardArgs args;
    args.x = work_.x.Rows(x_begin, x_count);
    args.weights = y;
    MatrixView distances = block_.view().Rows(0, x_count);
    distances.cols = y.rows;
    (ReadsSums(work_.x.dtype()) ? args.sums : args.a) = distances;
    layer_.Forward(args);
    RunParts(work_.backend.threads(), x_count, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        lists_[static_cast<size_t>(list + i)].Add(distances.Row<T>(i), y.rows, y_begin, work_.options.k);
      }
    });
    Tell(static_cast<double>(x_count) * static_cast<double>(y.rows));
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
      const std::vector<Near<T>>& near = lists_[static_cast<size_t>(i)].Finish(work_.options.k);
      if (std::ssize(near) < work_.options.k) {
        throw Error(ErrorCode::kBadData,
                    fmt::format("row {} of x (counted from 0) has only {} distances that are finite numbers", begin + i,
                                near.size()),
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
  StagedLayer layer_;
  Matrix block_;
  std::vector<NearList<T, kLargest>> lists_;
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

DType NeighbourType(DType dtype, Synapse metric) {
  return ReadsSums(dtype) && metric != Synapse::kL2 ? SumType(dtype) : OutputType(dtype);
}

void RequireNeighbours(const RowSource& x, const RowSource& y, const NeighbourOptions& options) {
  if (x.cols() != y.cols() || x.dtype() != y.dtype()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x has {} columns of {} and y {} of {}: columns and types must be the same", x.cols(),
                            DTypeName(x.dtype()), y.cols(), DTypeName(y.dtype())));
  }
  const int64_t k = options.k;
  if (k < 1 || k > NeighbourOptions::kMost || k > y.rows()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} neighbours cannot be found among {} rows", k, y.rows()),
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
