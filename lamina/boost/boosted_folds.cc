// Folds, trees of the other folds, and then those of all rows.
#include "lamina/boost/boosted_folds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "lamina/base/nan.h"
#include "lamina/base/random.h"
#include "lamina/boost/boosted_trees.h"
#include "lamina/boost/score_form.h"
#include "lamina/rbf/even_rows.h"

namespace lamina {
namespace {

constexpr int64_t kFolds = 5;
constexpr int64_t kMostRowsOfFolds = 2000;
constexpr uint64_t kStreamOfFolds = ~uint64_t{0};  // of random numbers; others are the rounds'

// Groups go whole to the fold with the fewest rows.
std::vector<int64_t> FoldsOfGroups(const std::vector<int64_t>& order, const std::vector<int64_t>& groups) {
  std::vector<int64_t> folds(order.size());
  std::unordered_map<int64_t, int64_t> fold_of;
  std::array<int64_t, kFolds> sizes{};
  for (const int64_t row : order) {
    const int64_t smallest = std::ranges::min_element(sizes) - sizes.begin();
    const int64_t fold = fold_of.try_emplace(groups[static_cast<size_t>(row)], smallest).first->second;
    folds[static_cast<size_t>(row)] = fold;
    ++sizes[static_cast<size_t>(fold)];
  }
  return folds;
}

// The fold of each row. Every class is dealt out evenly. Where rows have times, the latest are fold 0.
std::vector<int64_t> DealtFolds(const Dataset& rows, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(rows.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::vector<int64_t> folds(order.size(), 1);
  if (!rows.times.empty()) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](int64_t row) { return rows.times[static_cast<size_t>(row)]; });
    for (size_t i = 0; i < order.size() / kFolds; ++i) {
      folds[static_cast<size_t>(order[i])] = 0;
    }
    return folds;
  }
  Random(seed, kStreamOfFolds).Shuffle(std::span(order));
  if (!rows.groups.empty()) {
    return FoldsOfGroups(order, rows.groups);
  }
  if (!rows.labels.empty()) {
    std::ranges::stable_sort(order, std::less<>(), [&](int64_t row) { return rows.labels[static_cast<size_t>(row)]; });
  }
  for (size_t i = 0; i < order.size(); ++i) {
    folds[static_cast<size_t>(order[i])] = static_cast<int64_t>(i) % kFolds;
  }
  return folds;
}

// That are not 0, on average of rows that stand evenly among all.
double InputsOfRow(const Dataset& rows) {
  constexpr int64_t kAsked = 1000;
  const int64_t asked = std::min(kAsked, rows.features.rows());
  if (asked == 0) {
    return static_cast<double>(rows.inputs());
  }
  int64_t count = 0;
  DispatchFloat(rows.features.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < asked; ++i) {
      const T* const x = rows.features.Row<T>(i * rows.features.rows() / asked);
      count += std::count_if(x, x + rows.features.cols(), [](T number) { return number != 0; });
    }
  });
  return static_cast<double>(count) / static_cast<double>(asked);
}

BoostedTrees TryByFolds(const Dataset& rows, const BoostOptions& options) {
  const std::vector<int64_t> fold_of = DealtFolds(rows, options.seed);
  const bool all_folds = rows.size() <= kMostRowsOfFolds && rows.times.empty();
  BoostedTrees trees;  // of the last fold
  trees.complete = true;
  Matrix left_out(rows.size(), rows.targets.cols(), DType::kF64);
  std::fill_n(left_out.Row<double>(0), left_out.rows() * left_out.cols(), kNaN);
  double loss = 0;
  int64_t kept = 0;
  int64_t folds = 0;
  for (int64_t fold = 0; fold < (all_folds ? kFolds : 1); ++fold) {
    std::vector<int64_t> taught;
    std::vector<int64_t> asked;
    for (int64_t i = 0; i < rows.size(); ++i) {
      (fold_of[static_cast<size_t>(i)] == fold ? asked : taught).push_back(i);
    }
    if (taught.empty() || asked.empty()) {
      continue;
    }
    trees = FitBoostedTrees(ChosenRows(rows, taught), ChosenRows(rows, asked), options);
    if (!trees.complete) {
      return trees;
    }
    ++folds;
    kept += trees.kept;
    loss += trees.left_out_loss;
    for (size_t i = 0; i < asked.size(); ++i) {
      std::copy_n(trees.left_out.Row<double>(static_cast<int64_t>(i)), left_out.cols(), left_out.Row<double>(asked[i]));
    }
  }
  trees.kept = folds == 0 ? 0 : std::lround(static_cast<double>(kept) / static_cast<double>(folds));
  trees.left_out = std::move(left_out);
  trees.left_out_loss = folds == 0 ? kNaN : loss / static_cast<double>(folds);
  if (all_folds) {
    trees.losses.clear();  // each fold has its own
  }
  return trees;
}

}  // namespace

double BoostOperations(const Dataset& rows, bool validates, const BoostOptions& options) {
  const int64_t scores = ScoreForm{options.classes, rows.targets.cols()}.scores();
  // A cut looks at the rows of the smaller part, and at the bins of both.
  const auto leaves = static_cast<double>(options.leaves);
  const double rows_of_tree =
      static_cast<double>(rows.size()) * (1 + std::log2(leaves) / 2) + 8 * leaves * static_cast<double>(options.bins);
  const double seen = std::ceil(options.columns * (InputsOfRow(rows) + static_cast<double>(options.sums.size())));
  const double fits = validates ? 1 : rows.size() <= kMostRowsOfFolds ? kFolds + 1 : 2;
  return fits * rows_of_tree * seen * static_cast<double>((2 * scores + 1) * options.rounds);
}

BoostedTrees TryBoostedTrees(const Dataset& train, const Dataset& validation, const BoostOptions& options) {
  return validation.size() > 0 ? FitBoostedTrees(train, validation, options) : TryByFolds(train, options);
}

BoostedTrees LearnAllRows(const Dataset& rows, BoostOptions options, BoostedTrees tried) {
  options.rounds = tried.kept;
  options.to_beat.clear();
  BoostedTrees trees = FitBoostedTrees(rows, Dataset(), options);
  trees.left_out = std::move(tried.left_out);
  trees.left_out_loss = tried.left_out_loss;
  return trees;
}

}  // namespace lamina
