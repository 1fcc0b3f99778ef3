// Lines through the columns with limits and without, on two halves of the rows.
#include "lamina/data/encode/sum_of_columns.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/base/error.h"
#include "lamina/data/encode/input_encoder.h"
#include "lamina/data/encode/line_fit.h"

namespace lamina {
namespace {

constexpr int64_t kMostRows = 4000;
constexpr int64_t kMostColumns = 200;
constexpr int64_t kRowsAColumn = 4;
constexpr double kMuchLess = 0.5;   // of the squared error with limits
constexpr double kMostLeft = 0.25;  // of the target's variance

Matrix Encoded(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions, Scaling scaling) {
  PreprocessOptions options;
  options.scaling = scaling;
  options.missing = MissingPolicy::kMean;
  options.missing_indicator = false;
  return FitAndEncode(table, rows, positions, options);
}

}  // namespace

bool LimitsCutASum(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                   int64_t target) {
  const Column& answers = table.columns[static_cast<size_t>(target)];
  std::vector<int64_t> numbers;
  std::ranges::copy_if(positions, std::back_inserter(numbers), [&](int64_t position) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    return column.kind == ColumnKind::kNumber && !column.is_date;
  });
  const std::vector<int64_t> asked = SpreadOut(rows, kMostRows, answers);
  if (answers.kind != ColumnKind::kNumber || numbers.empty() || std::ssize(numbers) > kMostColumns ||
      kRowsAColumn * std::ssize(numbers) > std::ssize(asked)) {
    return false;
  }
  Matrix centered(std::ssize(asked), 1, DType::kF64);
  double* const y = centered.Row<double>(0);
  std::ranges::transform(asked, y, [&](int64_t row) { return answers.Number(row); });
  const double mean = std::accumulate(y, y + centered.rows(), 0.0) / static_cast<double>(centered.rows());
  double spread = 0;
  for (int64_t i = 0; i < centered.rows(); ++i) {
    y[i] -= mean;
    spread += y[i] * y[i];
  }
  if (!(spread > 0) || !std::isfinite(spread)) {
    return false;
  }
  const auto error_with = [&](Scaling scaling) {
    const Matrix errors = SquaredErrorsOfHalves(Encoded(table, asked, numbers, scaling), centered);
    return std::accumulate(errors.Row<double>(0), errors.Row<double>(0) + errors.rows(), 0.0);
  };
  try {
    const double whole = error_with(Scaling::kStandardize);
    return whole <= kMostLeft * spread && whole <= kMuchLess * error_with(Scaling::kRobust);
  } catch (const Error&) {  // a column has no value in the rows asked, or too large ones: limits stay
    return false;
  }
}

}  // namespace lamina
