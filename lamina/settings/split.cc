// Splitting and selecting rows, seeded and deterministic.
#include "lamina/settings/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "lamina/base/check.h"
#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

constexpr uint64_t kSplitStream = 0x5B117;
constexpr uint64_t kSelectStream = 0x5E1EC7;
using Ratios = std::array<double, 3>;
using Counts = std::array<int64_t, 3>;

Ratios CheckedRatios(const SplitOptions& options) {
  const Ratios ratios{options.train, options.validation, options.test};
  for (const double ratio : ratios) {
    if (!(ratio >= 0 && ratio <= 1)) {  // also NaN
      throw Error(ErrorCode::kInvalidArgument, "a ratio must lie in 0 to 1", {.value = fmt::format("{}", ratio)});
    }
  }
  const double sum = ratios[0] + ratios[1] + ratios[2];
  if (std::abs(sum - 1) > 1e-6) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("ratios must sum to 1, these sum to {:.6g}", sum),
                {.remedy = "Give the shares of training, validation and test rows, such as 0.7,0.2,0.1."});
  }
  return {ratios[0] / sum, ratios[1] / sum, ratios[2] / sum};
}

// Largest remainder: whole numbers nearest to count × ratios that sum to count; ties go to the earlier part.
Counts Apportion(int64_t count, const Ratios& ratios) {
  Counts counts{};
  std::array<size_t, 3> order{0, 1, 2};
  Ratios remainder{};
  for (size_t p = 0; p < 3; ++p) {
    const double quota = static_cast<double>(count) * ratios[p];
    counts[p] = static_cast<int64_t>(quota + 1e-6);  // 0.7 × 10 must not become 6
    remainder[p] = quota - static_cast<double>(counts[p]);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return remainder[a] > remainder[b]; });
  int64_t left = count - std::accumulate(counts.begin(), counts.end(), int64_t{0});
  for (size_t i = 0; left > 0; i = (i + 1) % 3) {
    if (ratios[order[i]] > 0) {
      ++counts[order[i]];
      --left;
    }
  }
  return counts;
}

// Every part that was asked for gets a row, taken from the largest.
void FillEmptyParts(Split& split, const Ratios& ratios) {
  const std::array<std::vector<int64_t>*, 3> parts{&split.train, &split.validation, &split.test};
  for (size_t p = 0; p < 3; ++p) {
    if (ratios[p] > 0 && parts[p]->empty()) {
      auto* largest = *std::max_element(parts.begin(), parts.end(),
                                        [](const auto* a, const auto* b) { return a->size() < b->size(); });
      parts[p]->push_back(largest->back());
      largest->pop_back();
    }
  }
}

void Deal(std::span<const int64_t> rows, const Ratios& ratios, Split& split) {
  const Counts counts = Apportion(static_cast<int64_t>(rows.size()), ratios);
  const auto first = rows.begin() + counts[0];
  const auto second = first + counts[1];
  split.train.insert(split.train.end(), rows.begin(), first);
  split.validation.insert(split.validation.end(), first, second);
  split.test.insert(split.test.end(), second, rows.end());
}

}  // namespace

Split SplitRows(std::span<const int64_t> rows, std::span<const int32_t> strata, const SplitOptions& options) {
  const Ratios ratios = CheckedRatios(options);
  const auto parts = static_cast<size_t>(std::count_if(ratios.begin(), ratios.end(), [](double r) { return r > 0; }));
  if (rows.size() < parts) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} cannot be split into {} parts", Counted(std::ssize(rows), "row{s}"), parts),
                {.remedy = fmt::format("At least {} rows are needed.", parts)});
  }
  Random random(options.seed, kSplitStream);
  std::map<int32_t, std::vector<int64_t>> groups;  // ordered, so that the result does not depend on a hash
  if (options.stratify && !strata.empty()) {
    Check(strata.size() == rows.size(), "SplitRows: one stratum per row");
    for (size_t i = 0; i < rows.size(); ++i) {
      groups[strata[i]].push_back(rows[i]);
    }
  } else {
    groups[0].assign(rows.begin(), rows.end());
  }
  Split split;
  for (auto& [stratum, group] : groups) {
    if (options.shuffle) {
      random.Shuffle(std::span(group));
    }
    Deal(group, ratios, split);
  }
  FillEmptyParts(split, ratios);
  for (auto* part : {&split.train, &split.validation, &split.test}) {
    if (options.shuffle) {
      random.Shuffle(std::span(*part));  // mixes the strata
    } else if (groups.size() > 1) {
      std::sort(part->begin(), part->end());
    }
  }
  return split;
}

std::vector<double> SplitKeys(const Table& table, const std::string& name, std::span<const int64_t> rows, uint64_t seed,
                              const std::string& flag) {
  const Column& column = table.columns[static_cast<size_t>(table.FindColumn(name))];
  std::vector<double> keys;
  keys.reserve(rows.size());
  std::vector<int64_t> place(column.categories.size());
  std::iota(place.begin(), place.end(), int64_t{0});
  Random(seed, kSplitStream).Shuffle(std::span(place));
  for (const int64_t row : rows) {
    if (column.IsMissing(row)) {
      ThrowCell(table, row, column, fmt::format("missing value in the column of --{}", flag),
                "Correct the row or take it out.");
    }
    keys.push_back(column.kind == ColumnKind::kText
                       ? static_cast<double>(place[static_cast<size_t>(column.codes[static_cast<size_t>(row)])])
                       : column.Number(row));
  }
  return keys;
}

namespace {

// Rows in the order of `keys`, cut where those change.
Split CutByKeys(const Table& table, const std::string& name, std::span<const int64_t> rows,
                const std::vector<double>& keys, const SplitOptions& options, const std::string& flag) {
  const Ratios ratios = CheckedRatios(options);
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  const Counts counts = Apportion(std::ssize(rows), ratios);
  const auto boundary = [&](int64_t wanted) {  // the nearest place where the value changes
    const auto changes = [&](int64_t at) {
      return at <= 0 || at >= std::ssize(order) ||
             keys[order[static_cast<size_t>(at)]] != keys[order[static_cast<size_t>(at - 1)]];
    };
    for (int64_t away = 0;; ++away) {
      for (const int64_t at : {wanted - away, wanted + away}) {
        if (at >= 0 && at <= std::ssize(order) && changes(at)) {
          return at;
        }
      }
    }
  };
  const int64_t first = boundary(counts[0]);
  const int64_t second = ratios[2] > 0 ? std::max(first, boundary(counts[0] + counts[1])) : std::ssize(order);
  Split split;
  const auto take = [&](std::vector<int64_t>& part, int64_t begin, int64_t end, double ratio) {
    for (int64_t i = begin; i < end; ++i) {
      part.push_back(rows[order[static_cast<size_t>(i)]]);
    }
    if (ratio > 0 && part.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--{}: this column has too few different values for the parts", flag),
                  {.file = table.source, .column = name, .remedy = "Choose other shares or another column."});
    }
  };
  take(split.train, 0, first, ratios[0]);
  take(split.validation, first, second, ratios[1]);
  take(split.test, second, std::ssize(order), ratios[2]);
  return split;
}

// Replaces numbers by the place of each value in a random order, as categories have it.
void ShuffleValues(uint64_t seed, std::vector<double>& keys) {
  std::vector<double> values = keys;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<double> places(values.size());
  std::iota(places.begin(), places.end(), 0.0);
  Random(seed, kSplitStream).Shuffle(std::span(places));
  for (double& key : keys) {
    key = places[static_cast<size_t>(std::lower_bound(values.begin(), values.end(), key) - values.begin())];
  }
}

}  // namespace

Split SplitRowsBy(const Table& table, const std::string& name, std::span<const int64_t> rows,
                  const SplitOptions& options) {
  return CutByKeys(table, name, rows, SplitKeys(table, name, rows, options.seed, "split-by"), options, "split-by");
}

Split SplitGroups(const Table& table, const std::string& name, std::span<const int64_t> rows,
                  const SplitOptions& options) {
  std::vector<double> keys = SplitKeys(table, name, rows, options.seed, "group");
  ShuffleValues(options.seed, keys);
  Split split = CutByKeys(table, name, rows, keys, options, "group");
  Random random(options.seed, kSplitStream);
  for (auto* part : {&split.train, &split.validation, &split.test}) {
    if (options.shuffle) {
      random.Shuffle(std::span(*part));
    } else {
      std::sort(part->begin(), part->end());
    }
  }
  return split;
}

std::vector<int64_t> SelectRows(int64_t total, int64_t count, bool random, uint64_t seed) {
  if (count <= 0 || count >= total) {
    count = total;
  }
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(count));
  if (!random) {
    rows.resize(static_cast<size_t>(count));
    std::iota(rows.begin(), rows.end(), int64_t{0});
    return rows;
  }
  Random generator(seed, kSelectStream);  // selection sampling (Knuth, TAOCP 3.4.2, algorithm S): ascending by itself
  for (int64_t i = 0; count > 0; ++i) {
    if (generator.Below(static_cast<uint64_t>(total - i)) < static_cast<uint64_t>(count)) {
      rows.push_back(i);
      --count;
    }
  }
  return rows;
}

}  // namespace lamina
