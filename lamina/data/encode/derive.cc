// Columns computed from others.
#include "lamina/data/encode/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/fitted_column.h"

namespace lamina {
namespace {

constexpr int64_t kMaxCount = 10'000;
constexpr const char* kForm = "Write NAME=FUNCTION:COLUMN[:ARGUMENT], for example return=next_change:close.";

constexpr std::string_view kAlongSeries = "[count]";  // the argument of the functions that look at other rows

constexpr DeriveFunction kFunctions[] = {
    {"previous", kAlongSeries, "the value COUNT rows before in the series (default 1)"},
    {"next", kAlongSeries, "the value COUNT rows later"},
    {"change", kAlongSeries, "relative change since the value COUNT rows before: x / previous - 1"},
    {"next_change", kAlongSeries, "relative change until the value COUNT rows later: next / x - 1"},
    {"mean", kAlongSeries, "mean of this row and the COUNT - 1 before (default 5)"},
    {"ratio", "column", "x divided by that column"},
    {"difference", "column", "x minus that column"},
    {"log", "", "sign(x) ln(1 + |x|)"},
    {"weekday", "", "of a date: 0 Monday to 6 Sunday", true},
    {"month", "", "of a date: 1 to 12", true},
    {"year", "", "of a date", true}};

[[noreturn]] void ThrowForm(const std::string& text, std::string message, std::string remedy = kForm) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message), {.value = text, .remedy = std::move(remedy)});
}

const DeriveFunction& FindFunction(std::string_view name, const std::string& text) {
  std::vector<std::string> names;
  for (const DeriveFunction& function : kFunctions) {
    if (function.name == name) {
      return function;
    }
    names.emplace_back(function.name);
  }
  ThrowUnknownName(name, names, fmt::format("--derive {:.200}: unknown function", text));
}

const Column& NumberColumn(const Table& table, const std::string& name) {
  const Column& column = table.columns[static_cast<size_t>(table.FindColumn(name))];
  if (column.kind == ColumnKind::kText) {
    throw Error(ErrorCode::kInvalidArgument, "--derive needs numbers or dates, this column is text",
                {.file = table.source, .column = column.name});
  }
  return column;
}

// Rows series by series, each in its order.
struct Series {
  std::vector<int64_t> rows;
  std::vector<int64_t> begin;  // per position in `rows`: where its series begins
  std::vector<int64_t> end;
};

Series SeriesOf(const Table& table, const DeriveOptions& options) {
  Series series;
  const auto count = static_cast<size_t>(table.rows);
  series.rows.resize(count);
  std::iota(series.rows.begin(), series.rows.end(), int64_t{0});
  std::vector<int32_t> group(count, 0);
  if (!options.series_by.empty()) {
    const Column& column = table.columns[static_cast<size_t>(table.FindColumn(options.series_by))];
    const CategoryView view(column, series.rows);
    for (size_t i = 0; i < count; ++i) {
      group[i] = view.Code(static_cast<int64_t>(i));
    }
  }
  std::vector<double> order(options.order_by.empty() ? 0 : count);
  if (!options.order_by.empty()) {
    const Column& column = NumberColumn(table, options.order_by);
    for (size_t i = 0; i < count; ++i) {
      order[i] = column.Number(static_cast<int64_t>(i));
      if (std::isnan(order[i])) {
        ThrowCell(table, static_cast<int64_t>(i), column, "missing value in the column of --order-by",
                  "Correct the row or take it out.");
      }
    }
  }
  const auto before = [&](int64_t a, int64_t b) {
    const auto i = static_cast<size_t>(a);
    const auto j = static_cast<size_t>(b);
    return group[i] != group[j] ? group[i] < group[j] : !order.empty() && order[i] < order[j];
  };
  if (!std::is_sorted(series.rows.begin(), series.rows.end(), before)) {
    std::stable_sort(series.rows.begin(), series.rows.end(), before);
  }
  series.begin.resize(count);
  series.end.resize(count);
  for (size_t first = 0; first < count;) {
    size_t last = first;
    while (last < count &&
           group[static_cast<size_t>(series.rows[last])] == group[static_cast<size_t>(series.rows[first])]) {
      ++last;
    }
    std::fill(series.begin.begin() + static_cast<ptrdiff_t>(first), series.begin.begin() + static_cast<ptrdiff_t>(last),
              static_cast<int64_t>(first));
    std::fill(series.end.begin() + static_cast<ptrdiff_t>(first), series.end.begin() + static_cast<ptrdiff_t>(last),
              static_cast<int64_t>(last));
    first = last;
  }
  return series;
}

// The civil year and month of days since 1970-01-01 (H. Hinnant, "chrono-compatible low-level date algorithms").
struct YearMonth {
  double year;
  double month;
};
YearMonth CivilOf(double date) {
  const int64_t days = static_cast<int64_t>(std::floor(date)) + 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted = (5 * day_of_year + 2) / 153;
  const int64_t month = shifted + (shifted < 10 ? 3 : -9);
  return {static_cast<double>(year_of_era + era * 400 + (month <= 2 ? 1 : 0)), static_cast<double>(month)};
}

double OfRow(std::string_view function, double x) {
  if (function == "log") {
    return SignedLogarithm(x);
  }
  if (!(std::abs(x) < 1e8)) {  // no date: some 270,000 years
    return kNaN;
  }
  if (function == "weekday") {
    const double day = std::floor(x) + 3;  // 1970-01-01 was a Thursday
    return day - 7 * std::floor(day / 7);
  }
  const YearMonth civil = CivilOf(x);
  return function == "month" ? civil.month : civil.year;
}

void FillAlong(const Series& series, const Derivation& made, const Column& column, std::vector<double>& values) {
  const std::string_view function = made.function->name;
  const auto at = [&](int64_t position) { return column.Number(series.rows[static_cast<size_t>(position)]); };
  const bool later = function == "next" || function == "next_change";
  const bool relative = function == "change" || function == "next_change";
  for (int64_t i = 0; i < std::ssize(series.rows); ++i) {
    const auto position = static_cast<size_t>(i);
    double& value = values[static_cast<size_t>(series.rows[position])];
    if (function == "mean") {
      if (i - series.begin[position] + 1 >= made.count) {
        double sum = 0;
        for (int64_t k = i - made.count + 1; k <= i; ++k) {
          sum += at(k);
        }
        value = sum / static_cast<double>(made.count);
      }
      continue;
    }
    const int64_t other = later ? i + made.count : i - made.count;
    if (other < series.begin[position] || other >= series.end[position]) {
      continue;
    }
    value = at(other);
    if (relative) {
      const double base = later ? at(i) : value;
      value = base == 0 ? kNaN : (later ? value : at(i)) / base - 1;
    }
  }
}

std::vector<double> Compute(const Table& table, const Derivation& made, const DeriveOptions& options,
                            std::optional<Series>& series) {
  const Column& column = NumberColumn(table, made.column);
  std::vector<double> values(static_cast<size_t>(table.rows), kNaN);
  if (made.function->argument == kAlongSeries) {
    if (!series) {
      series = SeriesOf(table, options);
    }
    FillAlong(*series, made, column, values);
    return values;
  }
  const Column* other = made.other.empty() ? nullptr : &NumberColumn(table, made.other);
  for (int64_t row = 0; row < table.rows; ++row) {
    const double x = column.Number(row);
    double& value = values[static_cast<size_t>(row)];
    if (other == nullptr) {
      value = OfRow(made.function->name, x);
    } else if (made.function->name == "difference") {
      value = x - other->Number(row);
    } else {
      value = other->Number(row) == 0 ? kNaN : x / other->Number(row);
    }
  }
  return values;
}

bool HasColumn(const Table& table, const std::string& name) {
  return std::any_of(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.name == name; });
}

}  // namespace

std::span<const DeriveFunction> DeriveFunctions() { return kFunctions; }

Derivation ParseDerivation(const std::string& text) {
  const size_t equals = text.find('=');
  const std::vector<std::string_view> parts =
      SplitText(std::string_view(text).substr(equals == std::string::npos ? text.size() : equals + 1), ':');
  Derivation made;
  made.name = DerivedName(text);
  if (equals == std::string::npos || made.name.empty() || parts.size() < 2 || parts.size() > 3 || parts[1].empty()) {
    ThrowForm(text, "--derive: not a derived column");
  }
  made.function = &FindFunction(Trim(parts[0]), text);
  made.column = Trim(parts[1]);
  const std::string_view kind = made.function->argument;
  if (kind == "column") {
    if (parts.size() != 3 || Trim(parts[2]).empty()) {
      ThrowForm(text, fmt::format("--derive: {} needs two columns", made.function->name),
                fmt::format("Write NAME={}:COLUMN:COLUMN.", made.function->name));
    }
    made.other = Trim(parts[2]);
    return made;
  }
  made.count = made.function->name == "mean" ? 5 : 1;
  if (parts.size() == 3) {
    const std::optional<int64_t> count = ParseInteger(Trim(parts[2]));
    if (kind.empty() || !count || *count < 1 || *count > kMaxCount) {
      ThrowForm(text, kind.empty() ? fmt::format("--derive: {} takes no argument", made.function->name)
                                   : fmt::format("--derive: the count of rows must be from 1 to {}", kMaxCount));
    }
    made.count = *count;
  }
  return made;
}

bool DeriveOptions::Makes(std::string_view column) const {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const std::string& text) { return DerivedName(text) == column; });
}

std::string DerivedName(std::string_view text) { return std::string(Trim(text.substr(0, text.find('=')))); }

std::optional<std::vector<std::string>> RowSourcesOf(const DeriveOptions& options,
                                                     std::span<const std::string> needed) {
  std::vector<std::string> sources;
  std::vector<std::string> left(needed.rbegin(), needed.rend());  // a stack
  while (!left.empty()) {
    const std::string name = left.back();
    left.pop_back();
    const auto text = std::find_if(options.columns.begin(), options.columns.end(),
                                   [&](const std::string& made) { return DerivedName(made) == name; });
    if (text == options.columns.end()) {
      if (std::find(sources.begin(), sources.end(), name) == sources.end()) {
        sources.push_back(name);
      }
      continue;
    }
    const Derivation made = ParseDerivation(*text);
    if (made.function->argument == kAlongSeries) {
      return std::nullopt;
    }
    if (!made.other.empty()) {
      left.push_back(made.other);
    }
    left.push_back(made.column);
  }
  return sources;
}

void ValidateDerive(const DeriveOptions& options) {
  bool along = false;
  for (const std::string& text : options.columns) {
    along = ParseDerivation(text).function->argument == kAlongSeries || along;
  }
  if (!along && (!options.series_by.empty() || !options.order_by.empty())) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--{} needs a --derive along a series", options.series_by.empty() ? "order-by" : "series-by"),
        {.remedy = "For example --derive yesterday=previous:close."});
  }
}

void RequireDates(const Table& table, const DeriveOptions& options) {
  std::vector<Derivation> made;
  for (const std::string& text : options.columns) {
    made.push_back(ParseDerivation(text));
  }
  for (const Derivation& derived : made) {
    if (!derived.function->of_date) {
      continue;
    }
    std::string name = derived.column;
    const auto is_shifted = [&](const Derivation& other) {  // a date of another row is one
      return other.name == name && (other.function->name == "previous" || other.function->name == "next");
    };
    for (auto from = made.begin(); (from = std::find_if(made.begin(), made.end(), is_shifted)) != made.end();) {
      if (from->column == name) {
        break;
      }
      name = from->column;
    }
    const Column& column = table.columns[static_cast<size_t>(table.FindColumn(name))];
    if (!column.is_date) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--derive {}={}:{}: {} takes dates, and this column has none", derived.name,
                              derived.function->name, derived.column, derived.function->name),
                  {.file = table.source,
                   .column = column.name,
                   .remedy = "Name a column of dates, such as 2024-03-01.",
                   .setting = "derive"});
    }
  }
}

void DeriveColumns(Table& table, const DeriveOptions& options, std::span<const std::string> optional) {
  std::optional<Series> series;
  for (const std::string& text : options.columns) {
    const Derivation made = ParseDerivation(text);
    if (HasColumn(table, made.name)) {
      throw Error(ErrorCode::kInvalidArgument, "--derive: there is a column of this name already",
                  {.file = table.source, .column = made.name, .remedy = "Choose another name."});
    }
    const bool may_lack = std::find(optional.begin(), optional.end(), made.name) != optional.end();
    if (may_lack && !HasColumn(table, made.column)) {
      continue;
    }
    const auto owner = std::make_shared<const std::vector<double>>(Compute(table, made, options, series));
    Column column;
    column.name = made.name;
    column.numbers = owner->data();
    column.owner = owner;
    table.columns.push_back(std::move(column));
  }
}

}  // namespace lamina
