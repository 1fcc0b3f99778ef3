// Shares of values in bins.
#include "lamina/model/drift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lamina/base/names.h"
#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

constexpr size_t kBins = 10;
constexpr double kLeastShare = 1e-4;
constexpr double kShifted = 0.1;
constexpr double kDrifted = 0.25;
constexpr double kNoise = 2;  // times what is expected of equal data

ColumnProfile ProfileOfColumn(const FittedColumn& fitted, const Column& column, std::span<const int64_t> rows) {
  ColumnProfile profile;
  profile.name = fitted.name;
  profile.is_number = column.kind == ColumnKind::kNumber;
  if (profile.is_number) {
    std::vector<double> values;
    for (const int64_t row : rows) {
      if (!column.IsMissing(row)) {
        values.push_back(column.Number(row));
      }
    }
    std::sort(values.begin(), values.end());
    for (size_t b = 1; b < kBins && !values.empty(); ++b) {
      const double edge = values[b * (values.size() - 1) / kBins];
      if (profile.edges.empty() || edge > profile.edges.back()) {
        profile.edges.push_back(edge);
      }
    }
    profile.low = values.empty() ? 0 : values.front();
    profile.high = values.empty() ? 0 : values.back();
    profile.shares.resize(profile.edges.size() + 1);
  } else {
    std::map<int32_t, int64_t> counts;
    for (const int64_t row : rows) {
      if (!column.IsMissing(row)) {
        ++counts[column.codes[static_cast<size_t>(row)]];
      }
    }
    std::vector<std::pair<int64_t, int32_t>> order;
    order.reserve(counts.size());
    for (const auto& [code, count] : counts) {
      order.emplace_back(-count, code);
    }
    std::sort(order.begin(), order.end());
    for (size_t c = 0; c < order.size() && c < kProfileCategories; ++c) {
      profile.categories.push_back(column.categories[static_cast<size_t>(order[c].second)]);
    }
    profile.shares.resize(profile.categories.size() + 1);
  }
  const std::vector<double> counts = CountInBins(profile, column, rows);
  for (size_t b = 0; b < profile.shares.size(); ++b) {
    profile.shares[b] = counts[b] / static_cast<double>(rows.size());
  }
  profile.missing = counts.back() / static_cast<double>(rows.size());
  return profile;
}

// And what only the rows show.
ColumnDrift DriftOf(const ColumnProfile& profile, int64_t profile_rows, const FittedColumn& fitted,
                    const Column& column, std::span<const int64_t> rows) {
  ColumnDrift drift = DriftOfCounts(profile, profile_rows, CountInBins(profile, column, rows));
  const auto n = static_cast<double>(rows.size());
  if (profile.is_number) {
    for (const int64_t row : rows) {
      const double x = column.IsMissing(row) ? profile.low : column.Number(row);
      drift.outside += x < profile.low || x > profile.high ? 1 / n : 0;
    }
  } else {
    const CategoryView view(column, rows);
    const std::vector<int32_t> known = MatchNames(view, fitted.categories);
    for (const int64_t row : rows) {
      const int32_t code = view.Code(row);
      drift.unseen += code != -1 && known[static_cast<size_t>(code)] == -1 ? 1 / n : 0;
    }
  }
  return drift;
}

}  // namespace

std::vector<double> CountInBins(const ColumnProfile& profile, const Column& column, std::span<const int64_t> rows) {
  std::vector<double> counts(profile.shares.size() + 1);
  if (profile.is_number) {
    for (const int64_t row : rows) {
      const size_t bin =
          column.IsMissing(row)
              ? counts.size() - 1
              : static_cast<size_t>(std::lower_bound(profile.edges.begin(), profile.edges.end(), column.Number(row)) -
                                    profile.edges.begin());
      counts[bin] += 1;
    }
    return counts;
  }
  const CategoryView view(column, rows);
  const std::vector<int32_t> bin_of_code = MatchNames(view, profile.categories);
  for (const int64_t row : rows) {
    const int32_t code = view.Code(row);
    const int32_t bin = code == -1 ? -1 : bin_of_code[static_cast<size_t>(code)];
    counts[code == -1 ? counts.size() - 1 : bin == -1 ? profile.categories.size() : static_cast<size_t>(bin)] += 1;
  }
  return counts;
}

ColumnDrift DriftOfCounts(const ColumnProfile& profile, int64_t profile_rows, std::span<const double> counts) {
  ColumnDrift drift;
  drift.column = profile.name;
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> before = profile.shares;
  before.push_back(profile.missing);
  int64_t bins = 0;
  double below_before = 0;
  double below = 0;
  double differences = 0;
  for (size_t b = 0; b < counts.size(); ++b) {
    const double share = counts[b] / n;
    bins += share > 0 || before[b] > 0 ? 1 : 0;
    const double now = std::max(share, kLeastShare);
    const double then = std::max(before[b], kLeastShare);
    drift.stability_index += (now - then) * std::log(now / then);
    below += share;
    below_before += before[b];
    drift.distance = std::max(drift.distance, std::abs(below - below_before));
    differences += std::abs(share - before[b]);
  }
  drift.distance = profile.is_number ? drift.distance : differences / 2;
  drift.missing_before = profile.missing;
  drift.missing = counts.back() / n;
  const double expected = static_cast<double>(bins - 1) * (1 / static_cast<double>(profile_rows) + 1 / n);
  const double beyond = drift.stability_index - kNoise * expected;
  drift.verdict = beyond > kDrifted   ? DriftVerdict::kDrifted
                  : beyond > kShifted ? DriftVerdict::kShifted
                                      : DriftVerdict::kSame;
  return drift;
}

std::string_view DriftVerdictName(DriftVerdict verdict) {
  constexpr Named<DriftVerdict> kVerdicts[] = {
      {"same", DriftVerdict::kSame}, {"shifted", DriftVerdict::kShifted}, {"drifted", DriftVerdict::kDrifted}};
  return NameOf(verdict, kVerdicts);
}

DataProfile ProfileOf(const BoundTable& table, const Preprocessor& preprocessor, std::span<const int64_t> rows) {
  const std::vector<FittedColumn>& columns = preprocessor.inputs().columns();
  DataProfile profile;
  if (preprocessor.inputs().is_image() || columns.size() > kProfileColumns || rows.empty()) {
    return profile;
  }
  const std::vector<int64_t> some = SpreadOut(rows, kProfileRows);
  profile.rows = std::ssize(some);
  for (size_t c = 0; c < columns.size(); ++c) {
    profile.columns.push_back(ProfileOfColumn(columns[c], table.InputColumn(c), some));
    table.InputColumn(c).Release();
  }
  return profile;
}

std::vector<ColumnDrift> CompareWithProfile(const DataProfile& profile, const BoundTable& table,
                                            const Preprocessor& preprocessor, std::span<const int64_t> rows) {
  std::vector<ColumnDrift> drifts;
  for (size_t c = 0; c < profile.columns.size(); ++c) {
    drifts.push_back(
        DriftOf(profile.columns[c], profile.rows, preprocessor.inputs().columns()[c], table.InputColumn(c), rows));
  }
  std::stable_sort(drifts.begin(), drifts.end(),
                   [](const ColumnDrift& a, const ColumnDrift& b) { return a.stability_index > b.stability_index; });
  return drifts;
}

nlohmann::json ToJson(const ColumnDrift& drift) {
  return {{"column", drift.column},     {"psi", drift.stability_index},
          {"distance", drift.distance}, {"outside", drift.outside},
          {"unseen", drift.unseen},     {"missing_before", drift.missing_before},
          {"missing", drift.missing},   {"verdict", DriftVerdictName(drift.verdict)}};
}

}  // namespace lamina
