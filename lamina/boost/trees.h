// What boosted trees are, and how they are to grow.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/boost/column_bins.h"

namespace lamina {

/// A question: is the number of `column` above its cut `cut`? Or a leaf, which has no column.
struct TreeNode {
  int64_t column = -1;
  int64_t cut = 0;
  int64_t no = 0;  // places in the tree
  int64_t yes = 0;
  std::vector<double> value;  // of a leaf, one a score
  double gain = 0;            // of the question
};

/// Its root stands first.
using Tree = std::vector<TreeNode>;

inline constexpr int64_t kTreeLeaves = 8;
/// Leaves that are worth a try where there are so many training rows (docs/decisions/0140).
inline constexpr int64_t kDeepTreeLeaves = 32;
inline constexpr int64_t kLeastRowsOfDeepTrees = 2000;
inline constexpr int64_t kLeastRowsOfDeepestTrees = 8000;  // of twice as many leaves
/// Pairs of columns whose sums are worth a try.
inline constexpr int64_t kTreePairs = 6;
/// Bins of a column that help (docs/decisions/0142).
inline constexpr int64_t kBinsForClasses = 64;
inline constexpr int64_t kBinsForNumbers = 256;
inline constexpr int64_t kBinsOfSums = 64;

/// A column that is a sum of two others: first_weight · x[first] + second_weight · x[second].
struct ColumnSum {
  int64_t first = 0;
  int64_t second = 0;
  double first_weight = 1;
  double second_weight = 1;
  double size = 0;  // of both parts together, at most, in training rows
};

struct BoostOptions {
  /// Targets are shares of the classes, 1 for that of a row, and scores go into a softmax. Two classes have one score,
  /// of the second. Else each target has a score, in its units.
  bool classes = false;
  int64_t leaves = kTreeLeaves;    // of a tree, at least 2
  int64_t rounds = 500;            // at most; a tree each
  int64_t patience = 25;           // rounds without a lower loss of the validation rows after which it ends
  double rate = 0.1;               // how much of a tree counts
  int64_t bins = kBinsForClasses;  // of a column, 2 to ColumnBins::kMost
  double columns = 0.7;            // the share of them that a tree sees, drawn anew for each
  std::vector<ColumnSum> sums;     // further columns behind those of the rows
  double ridge = 1;                // added to the second derivatives of a leaf
  int64_t least_rows = 10;         // of a leaf
  uint64_t seed = 1;
  int threads = 1;
  /// Losses of the validation rows after each round of other trees (BoostedTrees::losses). After some rounds these
  /// trees end where theirs is not less. Empty: nothing ends them.
  std::vector<double> to_beat;
  std::function<bool()> stop_requested;
  std::function<void(int64_t rounds)> progress;
};

struct BoostedTrees {
  ColumnBins bins;
  std::vector<ColumnSum> sums;  // BoostOptions::sums, the last columns
  std::vector<double> start;    // the scores without a tree
  std::vector<Tree> trees;      // those that are kept
  int64_t rounds = 0;           // that were done
  int64_t kept = 0;             // that are best for rows left out, of folds on average; else all
  std::vector<double> losses;   // of the validation rows after each round
  /// What trees say to rows that they have not seen: probabilities of all classes, or values (rows × targets, f64).
  /// These are the validation rows, or else all rows, with NaN where a row was never left out.
  Matrix left_out;
  double left_out_loss = 0;  // of left_out: mean cross-entropy, or sum of squares a row; NaN where there is none
  bool complete = false;     // else stop_requested() ended it, and it is of no use

  int64_t inputs() const { return bins.columns() - std::ssize(sums); }
  const ColumnSum& SumOf(int64_t column) const { return sums[static_cast<size_t>(column - inputs())]; }
};

}  // namespace lamina
