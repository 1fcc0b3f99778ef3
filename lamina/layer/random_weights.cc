// Random rows and random numbers as weights.
#include "lamina/layer/random_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "lamina/base/buffer.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr uint64_t kRowStream = 902;  // of the seed; see settings/centres.cc
constexpr uint64_t kWeightStream = 903;
constexpr int64_t kBlock_bytes = 16 << 20;

int64_t BlockRows(int64_t cols, DType dtype) {
  return std::max<int64_t>(1, kBlock_bytes / std::max<int64_t>(1, cols * DTypeSize_bytes(dtype)));
}

// `count` different numbers below `n` (Floyd's sampling: memory for what is drawn only).
std::set<int64_t> DrawRows(int64_t n, int64_t count, uint64_t seed) {
  Random random(seed, kRowStream);
  std::set<int64_t> chosen;
  for (int64_t most = n - count; most < n; ++most) {
    const auto row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(most) + 1));
    if (!chosen.insert(row).second) {
      chosen.insert(most);
    }
  }
  return chosen;
}

void DrawCentres(RowSource& x, uint64_t seed, MatrixView w, const std::function<void(int64_t, int64_t)>& finished) {
  if (w.rows > x.rows()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} centers cannot be {} different rows of x", w.rows, x.rows()),
                {.remedy = "Ask for fewer neurons or give the weights."});
  }
  const std::set<int64_t> rows = DrawRows(x.rows(), w.rows, seed);
  const int64_t row_bytes = w.cols * DTypeSize_bytes(w.dtype);
  const int64_t block = BlockRows(w.cols, w.dtype);
  int64_t j = 0;
  for (auto row = rows.begin(); row != rows.end();) {
    const int64_t begin = *row / block * block;
    const int64_t count = std::min(block, x.rows() - begin);
    const int64_t first = j;
    const ConstMatrixView view = x.Rows(begin, count);
    for (; row != rows.end() && *row < begin + count; ++row, ++j) {
      std::memcpy(w.Rows(j, 1).data, view.Rows(*row - begin, 1).data, static_cast<size_t>(row_bytes));
    }
    x.Release(begin, count);
    if (finished) {
      finished(first, j - first);
    }
  }
}

}  // namespace

void DrawWeights(const LayerSpec& layer, RowSource& x, uint64_t seed, MatrixView w,
                 const std::function<void(int64_t begin, int64_t rows)>& finished) {
  if (IsDistance(layer.synapse)) {
    DrawCentres(x, seed, w, finished);
    return;
  }
  if (IsInteger(w.dtype)) {
    throw Error(
        ErrorCode::kInvalidArgument, "random weights of a dot layer are fractions, but x holds integers",
        {.value = std::string(DTypeName(w.dtype)), .remedy = "Give the weights, or x as floating-point numbers."});
  }
  const double scale = std::sqrt(6.0 / static_cast<double>(w.cols + w.rows));
  Random random(seed, kWeightStream);
  const int64_t block = BlockRows(w.cols, w.dtype);
  Matrix row(1, w.cols, DType::kF64);
  for (int64_t j = 0; j < w.rows; ++j) {
    std::generate_n(row.Row<double>(0), w.cols, [&] { return random.Uniform(-scale, scale); });
    ConvertMatrix(row.view(), w.Rows(j, 1));
    if (finished && ((j + 1) % block == 0 || j + 1 == w.rows)) {
      finished(j / block * block, j % block + 1);
    }
  }
}

}  // namespace lamina
