// Fitting columns: scales, categories, and what fills gaps.
#include "lamina/data/encode/column_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "lamina/base/error.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_access.h"
#include "lamina/data/encode/column_statistics.h"

namespace lamina {
namespace {

constexpr double kPixelMax = 255;

// Of SignedLogarithm(), over copies of the columns.
std::vector<ColumnStatistics> LogStatistics(std::span<const Column* const> columns, std::span<const int64_t> rows) {
  std::vector<int64_t> all(rows.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  std::vector<ColumnStatistics> statistics(columns.size());
#pragma omp parallel for schedule(dynamic)
  for (size_t j = 0; j < columns.size(); ++j) {
    std::vector<double> values(rows.size());
    DispatchNumbers(*columns[j], [&](const auto* numbers) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto x = static_cast<double>(numbers[rows[i] * columns[j]->stride]);
        values[i] = SignedLogarithm(x);
      }
    });
    Column logarithms;
    logarithms.numbers = values.data();
    const Column* const one[] = {&logarithms};
    statistics[j] = ComputeStatistics(one, all)[0];
  }
  return statistics;
}

// `flag`: the setting that `scaling` comes from.
void SetScale(FittedColumn& column, Scaling scaling, const ColumnStatistics& statistics, const std::string& source,
              std::string_view flag = "--scale") {
  if (scaling == Scaling::kStandardize || scaling == Scaling::kAuto || scaling == Scaling::kLog) {
    column.scaling.offset = statistics.mean;
    column.scaling.scale = statistics.deviation > 0 ? statistics.deviation : 1;
  } else if (scaling == Scaling::kMinMax) {
    column.scaling.offset = statistics.min;
    column.scaling.scale = statistics.max > statistics.min ? statistics.max - statistics.min : 1;
  }
  if (!std::isfinite(column.scaling.offset) || !std::isfinite(column.scaling.scale)) {
    throw Error(
        ErrorCode::kBadData, "values too large to scale",
        {.file = source, .column = column.name, .remedy = fmt::format("Check the values, or use {} none.", flag)});
  }
}

[[noreturn]] void ThrowNoValues(const Table& table, const std::string& column) {
  throw Error(ErrorCode::kBadData, "has no values in the training rows",
              {.file = table.source, .column = column, .remedy = "Drop the column with --drop."});
}

FittedColumn FitText(const Table& table, const Column& column, std::span<const int64_t> rows,
                     const PreprocessOptions& options) {
  FittedColumn fitted;
  fitted.name = column.name;
  fitted.kind = ColumnKind::kText;
  fitted.one_hot = options.encoding == Encoding::kOneHot;
  const CategoryView view(column, rows);
  fitted.categories = SortedNames(view, rows);
  if (fitted.categories.empty()) {
    ThrowNoValues(table, column.name);
  }
  const std::vector<int32_t> index = MatchNames(view, fitted.categories);
  std::vector<double> counts(fitted.categories.size());
  for (const int64_t row : rows) {
    if (view.Code(row) >= 0) {
      ++counts[static_cast<size_t>(index[static_cast<size_t>(view.Code(row))])];
    }
  }
  fitted.missing = std::ssize(rows) - static_cast<int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
  fitted.fill_category = static_cast<int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  if (!fitted.one_hot) {
    ColumnStatistics statistics;
    double total = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      total += counts[i];
      statistics.mean += counts[i] * static_cast<double>(i);
    }
    statistics.mean /= total;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double difference = static_cast<double>(i) - statistics.mean;
      statistics.deviation += counts[i] * difference * difference;
    }
    statistics.deviation = std::sqrt(statistics.deviation / total);
    statistics.max = static_cast<double>(counts.size() - 1);
    SetScale(fitted, options.scaling, statistics, table.source);
  }
  return fitted;
}

}  // namespace

std::vector<FittedColumn> FitInputs(const Table& table, std::span<const int64_t> rows,
                                    std::span<const int64_t> positions, const PreprocessOptions& options) {
  std::vector<FittedColumn> columns;
  std::vector<const Column*> measured;  // the columns whose statistics are needed
  std::vector<size_t> measured_column;
  for (const int64_t position : positions) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    FittedColumn fitted;
    if (column.kind == ColumnKind::kText) {
      fitted = FitText(table, column, rows, options);
    } else {
      fitted.name = column.name;
      fitted.is_date = column.is_date;
      fitted.format = column.format;
      const bool pixel = options.scaling == Scaling::kAuto && table.is_image && column.dtype == DType::kU8;
      fitted.scaling.scale = pixel ? kPixelMax : 1;
      const bool scaled = !pixel && options.scaling != Scaling::kNone;
      if (scaled || (options.missing == MissingPolicy::kMean && CanBeMissing(column))) {
        measured.push_back(&column);
        measured_column.push_back(columns.size());
      }
    }
    fitted.position = position;
    columns.push_back(std::move(fitted));
  }
  const std::vector<ColumnStatistics> statistics = ComputeStatistics(measured, rows);
  std::vector<ColumnStatistics> logarithms;
  if (options.scaling == Scaling::kLog) {
    logarithms = LogStatistics(measured, rows);
  }
  for (size_t i = 0; i < measured.size(); ++i) {
    FittedColumn& fitted = columns[measured_column[i]];
    if (statistics[i].count == 0) {
      ThrowNoValues(table, fitted.name);
    }
    fitted.fill = statistics[i].mean;
    fitted.span = NumberSpan{statistics[i].min, statistics[i].max};
    fitted.missing = std::ssize(rows) - statistics[i].count;
    fitted.scaling.logarithm = options.scaling == Scaling::kLog;
    SetScale(fitted, options.scaling, fitted.scaling.logarithm ? logarithms[i] : statistics[i], table.source);
  }
  return columns;
}

FittedColumn FitTarget(const Table& table, std::span<const int64_t> rows, int64_t position, Scaling scaling) {
  const Column& column = table.columns[static_cast<size_t>(position)];
  FittedColumn fitted;
  fitted.name = column.name;
  fitted.kind = column.kind;
  fitted.position = position;
  fitted.is_date = column.is_date;
  fitted.format = column.format;
  if (scaling != Scaling::kNone) {
    const Column* const one[] = {&column};
    fitted.scaling.logarithm = scaling == Scaling::kLog;
    SetScale(fitted, scaling, (fitted.scaling.logarithm ? LogStatistics(one, rows) : ComputeStatistics(one, rows))[0],
             table.source, "--target-scale");
  }
  return fitted;
}

}  // namespace lamina
