// Dealing rows, groups and series into folds, seeded and deterministic.
#include "lamina/run/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr uint64_t kFoldStream = 0xF01D5;

[[noreturn]] void ThrowTooFew(int64_t folds, const std::string& what, const std::string& setting = "folds") {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("--folds {}: {}", folds, what),
              {.remedy = "Give fewer folds.", .setting = setting});
}

bool IsText(const Table& table, const std::string& column) {
  return table.columns[static_cast<size_t>(table.FindColumn(column))].kind == ColumnKind::kText;
}

// The column whose values stay together, with its flag; "" for none.
std::pair<std::string, std::string> GroupOf(const Table& table, const FoldOptions& options) {
  if (!options.group.empty()) {
    return {options.group, "group"};
  }
  return !options.split_by.empty() && IsText(table, options.split_by) ? std::pair(options.split_by, "split-by")
                                                                      : std::pair("", "");
}

// A group goes where the fewest rows are, so that the folds come out even.
std::vector<int64_t> DealGroups(const std::vector<double>& keys, int64_t folds, uint64_t seed) {
  std::map<double, std::vector<size_t>> groups;
  for (size_t i = 0; i < keys.size(); ++i) {
    groups[keys[i]].push_back(i);
  }
  std::vector<const std::vector<size_t>*> order;
  order.reserve(groups.size());
  for (const auto& [key, members] : groups) {
    order.push_back(&members);
  }
  Random(seed, kFoldStream).Shuffle(std::span(order));
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->size() > b->size(); });
  std::vector<int64_t> sizes(static_cast<size_t>(folds));
  std::vector<int64_t> fold(keys.size());
  for (const auto* members : order) {
    const auto least = std::min_element(sizes.begin(), sizes.end());
    *least += std::ssize(*members);
    for (const size_t i : *members) {
      fold[i] = least - sizes.begin() + 1;
    }
  }
  return fold;
}

int64_t CountOfDifferent(std::vector<double> keys) {
  std::sort(keys.begin(), keys.end());
  return std::unique(keys.begin(), keys.end()) - keys.begin();
}

// Pieces of equal values stay together: a cut moves to the next place where the value changes.
std::vector<int64_t> CutInOrder(const std::vector<double>& keys, int64_t pieces) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<int64_t> fold(keys.size());
  int64_t piece = 0;
  int64_t left = CountOfDifferent(keys);  // values from here on
  for (size_t i = 0; i < order.size(); ++i) {
    const bool changes = i > 0 && keys[order[i]] != keys[order[i - 1]];
    left -= changes ? 1 : 0;
    const bool due = static_cast<int64_t>(i) >= (piece + 1) * std::ssize(order) / pieces;
    if (changes && piece + 1 < pieces && (due || left <= pieces - piece - 1)) {
      ++piece;
    }
    fold[order[i]] = piece;
  }
  return fold;
}

std::vector<int64_t> DealRows(std::span<const int32_t> strata, int64_t count, int64_t folds, uint64_t seed) {
  std::map<int32_t, std::vector<size_t>> groups;  // ordered: the same on every machine
  for (int64_t i = 0; i < count; ++i) {
    groups[strata.empty() ? 0 : strata[static_cast<size_t>(i)]].push_back(static_cast<size_t>(i));
  }
  Random random(seed, kFoldStream);
  std::vector<int64_t> fold(static_cast<size_t>(count));
  int64_t next = 0;  // goes on from one stratum to the next, so that the folds are of equal size, too
  for (auto& [stratum, members] : groups) {
    random.Shuffle(std::span(members));
    for (const size_t i : members) {
      fold[i] = next++ % folds + 1;
    }
  }
  return fold;
}

template <class T>
std::vector<T> Where(std::span<const T> values, const std::vector<int64_t>& fold, const auto& chosen) {
  std::vector<T> some;
  for (size_t i = 0; i < values.size(); ++i) {
    if (chosen(fold[i])) {
      some.push_back(values[i]);
    }
  }
  return some;
}

// Whole groups to validation, about `share` of the rows.
Split SplitGroups(const std::vector<double>& keys, std::span<const int64_t> rows, const FoldOptions& options,
                  double share, uint64_t seed) {
  Split split;
  if (share == 0) {
    split.train.assign(rows.begin(), rows.end());
    return split;
  }
  const auto parts = std::max<int64_t>(2, std::llround(1 / share));
  const int64_t groups = CountOfDifferent(keys);
  if (groups < 2) {
    ThrowTooFew(options.folds, fmt::format("fold {} leaves one group, and validation rows need another", options.fold),
                "group");
  }
  const std::vector<int64_t> part = DealGroups(keys, std::min(parts, groups), seed);
  split.train = Where(rows, part, [](int64_t p) { return p != 1; });
  split.validation = Where(rows, part, [](int64_t p) { return p == 1; });
  return split;
}

}  // namespace

std::vector<int64_t> AssignFolds(const Table& table, std::span<const int64_t> rows, std::span<const int32_t> strata,
                                 const FoldOptions& options, uint64_t seed) {
  const int64_t folds = options.folds;
  const auto [group, flag] = GroupOf(table, options);
  if (!group.empty()) {
    const std::vector<double> keys = SplitKeys(table, group, rows, seed, flag);
    if (const int64_t groups = CountOfDifferent(keys); groups < folds) {
      ThrowTooFew(folds, fmt::format("column '{}' has {} groups", group, groups), flag);
    }
    return DealGroups(keys, folds, seed);
  }
  if (!options.split_by.empty()) {
    const std::vector<double> keys = SplitKeys(table, options.split_by, rows, seed, "split-by");
    if (const int64_t values = CountOfDifferent(keys); values < folds + 1) {
      ThrowTooFew(folds,
                  fmt::format("in order, that takes {} different values of '{}', and it has {}", folds + 1,
                              options.split_by, values),
                  "split-by");
    }
    return CutInOrder(keys, folds + 1);
  }
  if (std::ssize(rows) < folds) {
    ThrowTooFew(folds, fmt::format("there are {} rows", rows.size()));
  }
  return DealRows(strata, std::ssize(rows), folds, seed);
}

Split SplitFold(const Table& table, std::span<const int64_t> rows, std::span<const int32_t> strata,
                const FoldOptions& options, const SplitOptions& shares) {
  const std::vector<int64_t> fold = AssignFolds(table, rows, strata, options, shares.seed);
  const auto [group, flag] = GroupOf(table, options);
  const bool in_order = group.empty() && !options.split_by.empty();
  const auto remains = [&](int64_t f) { return in_order ? f < options.fold : f != options.fold; };
  const std::vector<int64_t> rest = Where(rows, fold, remains);
  SplitOptions of_rest = shares;
  of_rest.test = 0;
  of_rest.train = shares.train / (shares.train + shares.validation);
  of_rest.validation = 1 - of_rest.train;
  Split split;
  if (!group.empty()) {
    split =
        SplitGroups(SplitKeys(table, group, rest, shares.seed, flag), rest, options, of_rest.validation, shares.seed);
  } else if (in_order) {
    split = SplitRowsBy(table, options.split_by, rest, of_rest);
  } else {
    of_rest.stratify = !strata.empty();
    split = SplitRows(rest, Where(strata, fold, remains), of_rest);
  }
  split.test = Where(rows, fold, [&](int64_t f) { return f == options.fold; });
  if (options.bag && shares.validation == 0) {
    split.validation = split.test;
  }
  return split;
}

}  // namespace lamina
