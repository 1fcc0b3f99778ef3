// Two lines for each text, on two halves of the rows.
#include "lamina/data/encode/telling_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "lamina/base/buffer.h"
#include "lamina/base/error.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/input_encoder.h"
#include "lamina/data/encode/line_fit.h"

namespace lamina {
namespace {

constexpr int64_t kMostRowsRead = 4000;
constexpr int64_t kLeastRowsRead = 100;
constexpr int64_t kMostOthers = 300;
constexpr int64_t kMostOfColumn = 60;  // categories of another column that have an input
constexpr int64_t kRareCategory = 5;   // of fewer rows
constexpr int64_t kMostClasses = 100;
constexpr int64_t kHashes = 256;
constexpr double kRidge = 10;  // beside texts of length 1
constexpr double kLeastGainOfText = 0.025;
constexpr double kLeastSurenessOfText = 2.75;

// Numbers, or for each class 1 where it is the row's; of mean 0.
Matrix CenteredTargets(const Column& target, std::span<const int64_t> rows, bool classes) {
  Matrix y;
  if (classes) {
    const CategoryView view(target, rows);
    if (std::ssize(view.names()) > kMostClasses) {
      return y;
    }
    y = Matrix(std::ssize(rows), std::ssize(view.names()), DType::kF64);
    for (int64_t i = 0; i < y.rows(); ++i) {
      y.Row<double>(i)[view.Code(rows[static_cast<size_t>(i)])] = 1;
    }
  } else if (target.kind == ColumnKind::kNumber) {
    y = Matrix(std::ssize(rows), 1, DType::kF64);
    for (int64_t i = 0; i < y.rows(); ++i) {
      *y.Row<double>(i) = target.Number(rows[static_cast<size_t>(i)]);
    }
  }
  for (int64_t k = 0; k < y.cols(); ++k) {
    double sum = 0;
    for (int64_t i = 0; i < y.rows(); ++i) {
      sum += y.Row<double>(i)[k];
    }
    for (int64_t i = 0; i < y.rows(); ++i) {
      y.Row<double>(i)[k] -= sum / static_cast<double>(y.rows());
    }
  }
  return y;
}

Matrix Beside(const Matrix& a, const Matrix& b) {
  Matrix both(b.rows(), a.cols() + b.cols(), DType::kF64);
  for (int64_t i = 0; i < both.rows(); ++i) {
    std::copy_n(b.Row<double>(i), b.cols(), std::copy_n(a.Row<double>(i), a.cols(), both.Row<double>(i)));
  }
  return both;
}

// Squared errors of rows, over all targets.
std::vector<double> ErrorsOfRows(const Matrix& x, const Matrix& y) {
  const Matrix squares = SquaredErrorsOfHalves(x, y, kRidge);
  std::vector<double> errors;
  for (int64_t i = 0; i < squares.rows(); ++i) {
    const double* const row = squares.Row<double>(i);
    errors.push_back(std::accumulate(row, row + squares.cols(), 0.0));
  }
  return errors;
}

// What has a mean of 0 by chance are powers of gains: a few large ones alone are not sure.
bool IsLess(const std::vector<double>& with, const std::vector<double>& without) {
  double left = 0;
  double gain = 0;
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    const double less = without[i] - with[i];
    const double power = std::copysign(std::pow(std::abs(less), 0.75), less);
    left += without[i];
    gain += less;
    sum += power;
    squares += power * power;
  }
  return gain > 0 && gain >= kLeastGainOfText * left && sum >= kLeastSurenessOfText * std::sqrt(squares);
}

}  // namespace

std::vector<int64_t> TextsThatTell(const Table& table, std::span<const int64_t> rows, const TextQuestion& question) {
  const Column& target = table.columns[static_cast<size_t>(question.target)];
  const std::vector<int64_t> asked = SpreadOut(rows, kMostRowsRead, target);
  if (question.texts.empty() || std::ssize(asked) < kLeastRowsRead) {
    return {};
  }
  PreprocessOptions options;
  options.scaling = Scaling::kRobust;
  options.missing = MissingPolicy::kMean;
  options.missing_indicator = false;
  options.min_count = kRareCategory;
  options.max_categories = kMostOfColumn;
  options.text = TextEncoding::kHash;
  options.text_inputs = kHashes;
  std::vector<int64_t> telling;
  try {
    const Matrix y = CenteredTargets(target, asked, question.classes);
    const Matrix others = FitAndEncode(table, asked, question.others, options);
    if (y.empty() || others.cols() > kMostOthers) {
      return {};
    }
    const std::vector<double> without = ErrorsOfRows(others, y);
    std::ranges::copy_if(question.texts, std::back_inserter(telling), [&](int64_t text) {
      const Matrix hashes = FitAndEncode(table, asked, std::span(&text, 1), options);
      return IsLess(ErrorsOfRows(Beside(others, hashes), y), without);
    });
  } catch (const Error&) {  // a column has no value in the rows asked, or too large ones
    return {};
  }
  return telling;
}

}  // namespace lamina
