// Distances block by block, each kept in the second-level cache, and a list of the nearest so far for every row of x: a
// distance is looked at once, and most are not below the largest of the list.
#include "python/src/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "lamina/backend/staged_layer.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/team.h"

namespace lamina::python {
namespace {

// A block of distances in f32 takes 1 MiB: what packing its operands costs is little beside them.
constexpr int64_t kBlockRows = 256;
constexpr int64_t kBlockColumns = 1024;

// The k smallest so far, ascending; equal ones by index, which only grows.
template <class T>
class NearestSoFar {
 public:
  NearestSoFar(T* distances, int64_t* indices, int64_t k) : distances_(distances), indices_(indices), k_(k) {
    std::fill_n(distances_, k, std::numeric_limits<T>::max());
    std::fill_n(indices_, k, int64_t{-1});
  }

  void Add(const T* row, int64_t count, int64_t first) {
    for (int64_t j = 0; j < count; j += kGroup) {
      const int64_t end = std::min(j + kGroup, count);
      if (end - j == kGroup && indices_[k_ - 1] >= 0 && !AnyBelow(row + j, distances_[k_ - 1])) {
        continue;
      }
      for (int64_t i = j; i < end; ++i) {
        if (row[i] < distances_[k_ - 1] || indices_[k_ - 1] < 0) {
          Insert(row[i], first + i);
        }
      }
    }
  }

 private:
  static constexpr int64_t kGroup = 32;

  // Without branches: the compiler makes vectors of it.
  static bool AnyBelow(const T* values, T limit) {
    int below = 0;
    for (int64_t i = 0; i < kGroup; ++i) {
      below |= static_cast<int>(values[i] < limit);
    }
    return below != 0;
  }

  void Insert(T distance, int64_t index) {
    int64_t place = k_ - 1;
    while (place > 0 && (indices_[place - 1] < 0 || distance < distances_[place - 1])) {
      distances_[place] = distances_[place - 1];
      indices_[place] = indices_[place - 1];
      --place;
    }
    distances_[place] = distance;
    indices_[place] = index;
  }

  T* distances_;
  int64_t* indices_;
  int64_t k_;
};

template <class T>
bool Find(ConstMatrixView x, ConstMatrixView y, int64_t k, StagedLayer& layer, Matrix& block, bool sums,
          const Backend& backend, const Neighbours& out, const std::function<bool()>& stop) {
  std::vector<T> best(static_cast<size_t>(kBlockRows * k));
  for (int64_t begin = 0; begin < x.rows; begin += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, x.rows - begin);
    std::vector<NearestSoFar<T>> lists;
    for (int64_t i = 0; i < rows; ++i) {
      lists.emplace_back(best.data() + i * k, out.indices + (begin + i) * k, k);
    }
    for (int64_t first = 0; first < y.rows; first += kBlockColumns) {
      const int64_t columns = std::min(kBlockColumns, y.rows - first);
      MatrixView distances = block.view();
      distances.rows = rows;
      distances.cols = columns;
      ForwardArgs args;
      args.x = x.Rows(begin, rows);
      args.weights = y.Rows(first, columns);
      (sums ? args.sums : args.a) = distances;
      layer.Forward(args);
      RunParts(backend.threads(), rows, [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) {
          lists[static_cast<size_t>(i)].Add(std::as_const(block).Row<T>(i), columns, first);
        }
      });
    }
    std::transform(best.begin(), best.begin() + rows * k, out.distances + begin * k,
                   [](T value) { return static_cast<double>(value); });
    if (stop()) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool FindNearest(ConstMatrixView x, ConstMatrixView y, int64_t k, Synapse metric, const Backend& backend,
                 const Neighbours& out, const std::function<bool()>& stop) {
  if (x.cols != y.cols || x.dtype != y.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x is {} x {} {} and y is {} x {} {}: the columns and types must be the same", x.rows,
                            x.cols, DTypeName(x.dtype), y.rows, y.cols, DTypeName(y.dtype)));
  }
  if (k < 1 || k > y.rows) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("k must be from 1 to the {} rows of y", y.rows),
                {.value = std::to_string(k)});
  }
  LayerPlanRequest request{{x.cols, std::min(y.rows, kBlockColumns), metric, Activation(), /*bias=*/false},
                           x.dtype,
                           std::min(x.rows, kBlockRows)};
  request.any_slicing = true;
  const bool sums = IsInteger(x.dtype) && metric != Synapse::kL2;
  if (IsInteger(x.dtype)) {
    request.largest_x = LargestMagnitude(x);
    request.largest_w = LargestMagnitude(y);
  }
  const DType type = sums ? SumType(x.dtype) : OutputType(x.dtype);
  StagedLayer layer(backend, request);
  Matrix block(std::min(x.rows, kBlockRows), std::min(y.rows, kBlockColumns), type);
  const auto find = [&]<class T>(T) { return Find<T>(x, y, k, layer, block, sums, backend, out, stop); };
  switch (type) {
    case DType::kI32: return find(int32_t{});
    case DType::kI64: return find(int64_t{});
    case DType::kF64: return find(double{});
    default: return find(float{});
  }
}

}  // namespace lamina::python
