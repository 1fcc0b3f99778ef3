// Left-looking Cholesky in blocks of columns. A block subtracts the product of the columns before it, where the time
// goes. Plain loops factorize its diagonal; the rest is multiplied by the inverse of that.
#include "lamina/rbf/ridge.h"

#include <algorithm>
#include <cmath>

#include "lamina/backend/staged_layer.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kBlockColumns = 192;
constexpr int64_t kSynapsesOfPiece = int64_t{1} << 31;  // computed before the next stop point
constexpr int64_t kLeastPiece = 192;                    // rows: the others are packed again for each piece
constexpr int64_t kLeastOthers = 512;                   // of w

// The diagonal block in place; false at a pivot that is not positive, which `column` then names.
bool FactoriseBlock(MatrixView a, int64_t& column) {
  for (int64_t j = 0; j < a.cols; ++j) {
    column = j;
    for (int64_t i = j; i < a.cols; ++i) {
      double sum = a.Row<double>(i)[j];
      for (int64_t k = 0; k < j; ++k) {
        sum -= a.Row<double>(i)[k] * a.Row<double>(j)[k];
      }
      if (i == j) {
        if (!(sum > 0) || !std::isfinite(sum)) {
          return false;
        }
        a.Row<double>(j)[j] = std::sqrt(sum);
      } else {
        a.Row<double>(i)[j] = sum / a.Row<double>(j)[j];
      }
    }
  }
  return true;
}

// The inverse of a lower triangle, with zeros above.
Matrix InverseOfLower(ConstMatrixView lower) {
  const int64_t n = lower.cols;
  Matrix inverse(n, n, DType::kF64);
  for (int64_t i = 0; i < n; ++i) {
    auto* const row = inverse.Row<double>(i);
    const auto* const factors = lower.Row<double>(i);
    row[i] = 1;
    for (int64_t k = 0; k < i; ++k) {
      const auto* const above = inverse.Row<double>(k);
      for (int64_t j = 0; j <= k; ++j) {
        row[j] -= factors[k] * above[j];
      }
    }
    for (int64_t j = 0; j <= i; ++j) {
      row[j] /= factors[i];
    }
  }
  return inverse;
}

}  // namespace

void MultiplyTransposed(ConstMatrixView x, ConstMatrixView w, MatrixView out, const Backend& backend) {
  LayerPlanRequest request;
  const int64_t inputs = std::max<int64_t>(1, x.cols);
  const int64_t others = std::min(w.rows, std::max(kLeastOthers, kSynapsesOfPiece / kLeastPiece / inputs));
  request.layer = {x.cols, others, Synapse::kDot, Activation(), /*bias=*/false};
  request.dtype = DType::kF64;
  const int64_t piece = std::max(kLeastPiece, kSynapsesOfPiece / std::max<int64_t>(1, inputs * others));
  request.max_batch = std::min(piece, x.rows);
  StagedLayer layer(backend, request);
  for (int64_t begin = 0; begin < x.rows; begin += piece) {
    const int64_t count = std::min(piece, x.rows - begin);
    for (int64_t other = 0; other < w.rows; other += others) {
      ForwardArgs args;
      args.x = x.Rows(begin, count);
      args.weights = w.Rows(other, std::min(others, w.rows - other));
      args.a = Columns(out.Rows(begin, count), other, args.weights.rows);
      layer.Forward(args);
      StopPoint();
    }
  }
}

Factorisation FactoriseCholesky(MatrixView a, const Backend& backend) {
  Factorisation result;
  const int64_t n = a.rows;
  Matrix block(n, kBlockColumns, DType::kF64);
  double largest = 0;
  double smallest = INFINITY;
  for (int64_t begin = 0; begin < n; begin += kBlockColumns) {
    const int64_t width = std::min(kBlockColumns, n - begin);
    const MatrixView panel = Columns(a.Rows(begin, n - begin), begin, width);
    MatrixView made = block.view().Rows(0, n - begin);
    made.cols = width;
    if (begin > 0) {
      const ConstMatrixView before = Columns(a.Rows(begin, n - begin), 0, begin);
      MultiplyTransposed(before, before.Rows(0, width), made, backend);
      RunParts(backend.threads(), panel.rows, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const auto* const product = made.Row<double>(i);
          auto* const row = panel.Row<double>(i);
          for (int64_t j = 0; j < std::min(width, i + 1); ++j) {
            row[j] -= product[j];
          }
        }
      });
    }
    const MatrixView diagonal = panel.Rows(0, width);
    int64_t failed_column = 0;
    const bool factorised = FactoriseBlock(diagonal, failed_column);
    for (int64_t j = 0; j < (factorised ? width : failed_column); ++j) {
      largest = std::max(largest, diagonal.Row<double>(j)[j]);
      smallest = std::min(smallest, diagonal.Row<double>(j)[j]);
    }
    result.condition = (largest / smallest) * (largest / smallest);
    if (!factorised) {
      result.failed_at = begin + failed_column;
      return result;
    }
    if (const int64_t below = panel.rows - width; below > 0) {
      const Matrix inverse = InverseOfLower(diagonal);
      MatrixView solved = made.Rows(0, below);
      MultiplyTransposed(panel.Rows(width, below), inverse.view(), solved, backend);
      for (int64_t i = 0; i < below; ++i) {
        std::copy_n(solved.Row<double>(i), width, panel.Row<double>(width + i));
      }
    }
  }
  result.complete = true;
  return result;
}

void SolveCholesky(ConstMatrixView factor, MatrixView b) {
  const int64_t n = factor.rows;
  for (int64_t i = 0; i < n; ++i) {
    const auto* const row = factor.Row<double>(i);
    auto* const solved = b.Row<double>(i);
    for (int64_t j = 0; j < i; ++j) {
      const auto* const known = b.Row<double>(j);
      for (int64_t k = 0; k < b.cols; ++k) {
        solved[k] -= row[j] * known[k];
      }
    }
    for (int64_t k = 0; k < b.cols; ++k) {
      solved[k] /= row[i];
    }
    StopPoint();
  }
  for (int64_t i = n; i-- > 0;) {
    const auto* const row = factor.Row<double>(i);
    auto* const solved = b.Row<double>(i);
    for (int64_t k = 0; k < b.cols; ++k) {
      solved[k] /= row[i];
    }
    for (int64_t j = 0; j < i; ++j) {
      auto* const open = b.Row<double>(j);
      for (int64_t k = 0; k < b.cols; ++k) {
        open[k] -= row[j] * solved[k];
      }
    }
    StopPoint();
  }
}

}  // namespace lamina
