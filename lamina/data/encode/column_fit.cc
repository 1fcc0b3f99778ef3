// Fitting columns: scales, categories, and what fills gaps.
#include "lamina/data/encode/column_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/team.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/code_columns.h"
#include "lamina/data/encode/column_access.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/text_scores_fit.h"
#include "lamina/data/encode/useless_columns.h"

namespace lamina {
namespace {

// For an input that tells gaps: with fewer rows it costs more than it tells.
constexpr int64_t kRowsToTellGaps = 500;
constexpr int64_t kGapsAreOften = 100;  // one row in so many

constexpr double kPixelMax = 255;
constexpr int64_t kParallelSorts = 1 << 18;  // fewer are sorted before a second thread wakes up

// The statistics of SignedLogarithm(), over copies of the columns.
std::vector<ColumnStatistics> LogStatistics(std::span<const Column* const> columns, std::span<const int64_t> rows) {
  std::vector<int64_t> all(rows.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  std::vector<ColumnStatistics> statistics(columns.size());
  RunEach(UsualThreads(), std::ssize(columns), [&](int64_t index) {
    const auto j = static_cast<size_t>(index);
    std::vector<double> values(rows.size());
    DispatchNumbers(*columns[j], [&](const auto* numbers) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto x = static_cast<double>(numbers[rows[i] * columns[j]->stride]);
        values[i] = SignedLogarithm(x);
      }
    });
    Column logarithms;
    columns[j]->Release();
    logarithms.numbers = values.data();
    const Column* const one[] = {&logarithms};
    statistics[j] = ComputeStatistics(one, all)[0];
  });
  return statistics;
}

// What only a sorted column tells.
struct Ranks {
  double quarter = 0;
  double median = 0;
  double three_quarters = 0;
  std::vector<double> edges;  // of bins
};

// Edges of at most `bins` bins that hold equally many values, as far as ties allow. Few different values get an edge
// between each two. None for a constant column.
std::vector<double> BinEdges(std::span<const double> ascending, int64_t bins) {
  std::vector<double> edges;
  for (size_t i = 0; i < ascending.size() && std::ssize(edges) <= bins + 1; ++i) {
    if (edges.empty() || ascending[i] != edges.back()) {
      edges.push_back(ascending[i]);
    }
  }
  if (std::ssize(edges) > bins + 1) {
    edges.clear();
    for (int64_t i = 0; i <= bins; ++i) {
      edges.push_back(QuantileOf(ascending, static_cast<double>(i) / static_cast<double>(bins)));
    }
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  }
  return edges.size() < 2 ? std::vector<double>() : edges;
}

Ranks RanksOf(std::span<const double> ascending, int64_t bins) {
  Ranks ranks;
  if (!ascending.empty()) {
    ranks.quarter = QuantileOf(ascending, 0.25);
    ranks.median = QuantileOf(ascending, 0.5);
    ranks.three_quarters = QuantileOf(ascending, 0.75);
    ranks.edges = bins > 0 ? BinEdges(ascending, bins) : std::vector<double>();
  }
  return ranks;
}

// Without `wanted`, ranks of nothing.
std::vector<Ranks> RanksOf(std::span<const Column* const> columns, std::span<const int64_t> rows, bool wanted,
                           int64_t bins) {
  std::vector<Ranks> ranks(columns.size());
  if (!wanted) {
    return ranks;
  }
  const bool many = std::ssize(rows) * std::ssize(columns) > kParallelSorts;
  RunEach(many ? UsualThreads() : 1, std::ssize(columns), [&](int64_t index) {
    const auto j = static_cast<size_t>(index);
    ranks[j] = RanksOf(SortedValues(*columns[j], rows), bins);
    columns[j]->Release();
  });
  return ranks;
}

// The scaling of numbers that are no pixels.
Scaling NumberScaling(const PreprocessOptions& options) {
  return options.scaling == Scaling::kAuto ? options.auto_scaling : options.scaling;
}

// `flag`: the setting that `scaling` comes from.
void SetScale(FittedColumn& column, Scaling scaling, const ColumnStatistics& statistics, const Ranks& ranks,
              const std::string& source, std::string_view flag = "--scale") {
  constexpr double kLeastSpan = 1e-300;  // its inverse is a number
  double spread = 1;                     // 0 where all values are the same
  double least = 1.5e-154;               // of squares that are normal numbers
  if (scaling == Scaling::kStandardize || scaling == Scaling::kAuto || scaling == Scaling::kLog) {
    column.scaling.offset = statistics.mean;
    spread = statistics.deviation;
  } else if (scaling == Scaling::kMinMax) {
    column.scaling.offset = statistics.min;
    spread = statistics.max - statistics.min;
    least = kLeastSpan;
  } else if (scaling == Scaling::kRobust) {
    const double middle = ranks.three_quarters - ranks.quarter;
    const double half = statistics.max / 2 - statistics.min / 2;
    column.scaling.offset = ranks.median;
    spread = middle > 0 ? middle : half;
    least = kLeastSpan;
  } else if (scaling == Scaling::kSize) {
    spread = std::hypot(statistics.mean, statistics.deviation);
  }
  const bool differ = statistics.max > statistics.min || (scaling == Scaling::kSize && statistics.max != 0);
  const bool small = spread < least && differ;
  if (!small && spread > 0) {
    column.scaling.scale = spread;
  }
  if (small || !std::isfinite(column.scaling.offset) || !std::isfinite(column.scaling.scale)) {
    throw Error(
        ErrorCode::kBadData, small ? "values too small to scale" : "values too large to scale",
        {.file = source, .column = column.name, .remedy = fmt::format("Check the values, or use {} none.", flag)});
  }
}

[[noreturn]] void ThrowNoValues(const Table& table, const std::string& column) {
  throw Error(ErrorCode::kBadData, "has no values in the training rows",
              {.file = table.source, .column = column, .remedy = "Drop the column with --drop."});
}

// Categories by their number of rows: the ones that are rare, or beyond the most that a column may have, become
// "other".
void FoldRare(FittedColumn& fitted, std::vector<double>& counts, const PreprocessOptions& options) {
  std::vector<size_t> by_count(counts.size());
  std::iota(by_count.begin(), by_count.end(), size_t{0});
  std::stable_sort(by_count.begin(), by_count.end(), [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  size_t kept = std::min(by_count.size(), static_cast<size_t>(std::max<int64_t>(1, options.max_categories)));
  while (kept > 1 && counts[by_count[kept - 1]] < static_cast<double>(options.min_count)) {
    --kept;
  }
  fitted.folded = std::ssize(by_count) - static_cast<int64_t>(kept);
  fitted.has_other = fitted.folded > 0;
  by_count.resize(kept);
  std::sort(by_count.begin(), by_count.end());
  std::vector<std::string> categories;
  std::vector<double> kept_counts;
  for (const size_t i : by_count) {
    categories.push_back(std::move(fitted.categories[i]));
    kept_counts.push_back(counts[i]);
  }
  fitted.categories = std::move(categories);
  counts = std::move(kept_counts);
}

// Scales the indices of categories, each counted as often as it occurs.
void ScaleIndices(FittedColumn& fitted, std::span<const double> counts, Scaling scaling, const std::string& source) {
  ColumnStatistics statistics;
  std::vector<double> indices;
  double total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    statistics.mean += counts[i] * static_cast<double>(i);
    indices.insert(indices.end(), static_cast<size_t>(counts[i]), static_cast<double>(i));
  }
  statistics.mean /= total;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double difference = static_cast<double>(i) - statistics.mean;
    statistics.deviation += counts[i] * difference * difference;
  }
  statistics.deviation = std::sqrt(statistics.deviation / total);
  statistics.max = static_cast<double>(counts.size() - 1);
  SetScale(fitted, scaling, statistics, RanksOf(indices, 0), source);
}

FittedColumn FitText(const Table& table, const Column& column, std::span<const int64_t> rows,
                     const PreprocessOptions& options, const Matrix& taught) {
  FittedColumn fitted;
  fitted.name = column.name;
  fitted.kind = ColumnKind::kText;
  if (ReadsWords(options.text) && IsFreeText(column, rows)) {
    if (MayScore(options.text) && !(options.text == TextEncoding::kByTexts && TextsRecur(column, rows))) {
      fitted.scores = std::make_shared<const TextScores>(FitTextScores(column, rows, taught));
    } else {
      fitted.buckets = options.text_inputs.value_or(InputsOfText(column, rows));
    }
    fitted.missing = std::count_if(rows.begin(), rows.end(), [&](int64_t row) { return column.IsMissing(row); });
    return fitted;
  }
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
  if (fitted.one_hot) {
    FoldRare(fitted, counts, options);
  } else {
    ScaleIndices(fitted, counts, NumberScaling(options), table.source);
  }
  fitted.fill_category = static_cast<int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  return fitted;
}

// Those that the training rows cover; the hours only where there are some.
std::vector<double> PeriodsOf(const Column& column, std::span<const int64_t> rows, const NumberSpan& span) {
  constexpr double kYear_days = 365.2425;
  constexpr double kWeek_days = 7;
  std::vector<double> periods;
  for (const double period : {kYear_days, kWeek_days}) {
    if (span.high - span.low >= period) {
      periods.push_back(period);
    }
  }
  if (std::any_of(rows.begin(), rows.end(), [&](int64_t row) {
        return !column.IsMissing(row) && column.Number(row) != std::floor(column.Number(row));
      })) {
    periods.push_back(1);
  }
  column.Release();
  return periods;
}

// Those of `options.codes`.
bool AreCodes(const Table& table, int64_t position, const PreprocessOptions& options) {
  return std::ranges::any_of(options.codes,
                             [&](const std::string& name) { return table.FindColumn(name) == position; });
}

// The frequent values of a column, as FoldRare() keeps categories.
void SetCodes(const Table& table, const Column& column, std::span<const int64_t> rows, const PreprocessOptions& options,
              FittedColumn& fitted) {
  if (!HoldsCodes(column, rows)) {
    throw Error(
        ErrorCode::kBadData,
        fmt::format("holds no codes, which are whole numbers up to {}", WithThousands(static_cast<int64_t>(kMostCode))),
        {.file = table.source,
         .column = column.name,
         .remedy = "Leave it out of --codes, or read it as text with --text-columns."});
  }
  std::vector<std::pair<int64_t, double>> values;  // rows, value
  for (const double value : SortedValues(column, rows)) {
    if (values.empty() || value != values.back().second) {
      values.emplace_back(0, value);
    }
    ++values.back().first;
  }
  fitted.folded = std::ssize(values);
  std::erase_if(values, [&](const auto& value) { return value.first < options.min_count; });
  std::ranges::stable_sort(values, std::greater<>(), &std::pair<int64_t, double>::first);
  values.resize(std::min(values.size(), static_cast<size_t>(std::max<int64_t>(1, options.max_categories))));
  std::ranges::transform(values, std::back_inserter(fitted.codes), &std::pair<int64_t, double>::second);
  std::ranges::sort(fitted.codes);
  fitted.folded -= std::ssize(fitted.codes);
}

bool IsPixel(const Table& table, const Column& column, const PreprocessOptions& options) {
  return options.scaling == Scaling::kAuto && table.is_image && column.dtype == DType::kU8;
}

// A column of numbers or dates, as far as its values have no say.
FittedColumn NumberBeforeStatistics(const Table& table, const Column& column, const PreprocessOptions& options) {
  FittedColumn fitted;
  fitted.name = column.name;
  fitted.is_date = column.is_date;
  fitted.format = column.format;
  fitted.scaling.scale = IsPixel(table, column, options) ? kPixelMax : 1;
  return fitted;
}

FittedColumn BeforeStatistics(const Table& table, int64_t position, std::span<const int64_t> rows,
                              const PreprocessOptions& options, const Matrix& taught) {
  const Column& column = table.columns[static_cast<size_t>(position)];
  const bool text = column.kind == ColumnKind::kText;
  FittedColumn fitted =
      text ? FitText(table, column, rows, options, taught) : NumberBeforeStatistics(table, column, options);
  if (!text && AreCodes(table, position, options)) {
    SetCodes(table, column, rows, options, fitted);
  }
  fitted.position = position;
  return fitted;
}

bool NeedsStatistics(const Table& table, const Column& column, const PreprocessOptions& options) {
  const bool bins = options.numbers == NumberEncoding::kPiecewise && options.bins > 0;
  const bool calendar = column.is_date && options.dates == DateEncoding::kCalendar;
  const bool scaled = NumberScaling(options) != Scaling::kNone || bins || calendar;
  return (scaled && !IsPixel(table, column, options)) || (Fills(options.missing) && CanBeMissing(column));
}

}  // namespace

std::vector<FittedColumn> FitInputs(const Table& table, std::span<const int64_t> rows,
                                    std::span<const int64_t> positions, const PreprocessOptions& options,
                                    const Matrix& taught) {
  const int64_t bins = options.numbers == NumberEncoding::kPiecewise ? options.bins : 0;
  const Scaling scaling = NumberScaling(options);
  std::vector<FittedColumn> columns;
  std::vector<const Column*> measured;  // the columns whose statistics are needed
  std::vector<size_t> measured_column;
  for (const int64_t position : positions) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    if (column.kind == ColumnKind::kNumber && NeedsStatistics(table, column, options)) {
      measured.push_back(&column);
      measured_column.push_back(columns.size());
    }
    columns.push_back(BeforeStatistics(table, position, rows, options, taught));
  }
  const std::vector<ColumnStatistics> statistics = ComputeStatistics(measured, rows);
  const bool median = options.missing == MissingPolicy::kMedian;
  std::vector<Ranks> ranks = RanksOf(measured, rows, bins > 0 || median || scaling == Scaling::kRobust, bins);
  std::vector<ColumnStatistics> logarithms;
  if (scaling == Scaling::kLog) {
    logarithms = LogStatistics(measured, rows);
  }
  for (size_t i = 0; i < measured.size(); ++i) {
    FittedColumn& fitted = columns[measured_column[i]];
    if (statistics[i].count == 0) {
      ThrowNoValues(table, fitted.name);
    }
    fitted.fill = median ? ranks[i].median : statistics[i].mean;
    fitted.span = NumberSpan{statistics[i].min, statistics[i].max};
    fitted.missing = std::ssize(rows) - statistics[i].count;
    fitted.edges = std::move(ranks[i].edges);
    if (fitted.is_date && options.dates == DateEncoding::kCalendar) {
      fitted.periods = PeriodsOf(*measured[i], rows, *fitted.span);
    }
    fitted.scaling.curve = scaling == Scaling::kLog      ? Curve::kLogarithm
                           : scaling == Scaling::kRobust ? Curve::kSmoothClip
                                                         : Curve::kLinear;
    SetScale(fitted, scaling, scaling == Scaling::kLog ? logarithms[i] : statistics[i], ranks[i], table.source);
  }
  for (FittedColumn& fitted : columns) {
    const bool often = std::ssize(rows) >= kRowsToTellGaps && fitted.missing * kGapsAreOften >= std::ssize(rows);
    fitted.indicates_missing =
        options.missing_indicator.value_or(often) && Fills(options.missing) && fitted.missing > 0;
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
    const bool logarithm = scaling == Scaling::kLog;
    fitted.scaling.curve = logarithm ? Curve::kLogarithm : Curve::kLinear;
    SetScale(fitted, scaling, (logarithm ? LogStatistics(one, rows) : ComputeStatistics(one, rows))[0],
             RanksOf(one, rows, scaling == Scaling::kRobust, 0)[0], table.source, "--target-scale");
  }
  return fitted;
}

}  // namespace lamina
