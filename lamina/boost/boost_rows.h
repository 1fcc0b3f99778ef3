// Rows as boosted trees see them: bins of columns and of their sums, targets, and the scores so far.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/boost/score_form.h"
#include "lamina/boost/trees.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

/// Bins of the columns of training rows, and of sums of them.
struct BinsWithSums {
  ColumnBins columns;
  ColumnBins sums;

  BinsWithSums(const Matrix& x, const BoostOptions& options);
  /// Those of the sums behind the others.
  ColumnBins All() const;
};

/// Without rows every vector is empty.
struct BoostRows {
  std::vector<uint8_t> codes;   // columns and sums × rows: the bin of each number
  std::vector<double> targets;  // rows × scores
  std::vector<double> scores;   // rows × scores
  std::vector<double> weights;  // or empty
  int64_t count = 0;

  BoostRows() = default;
  BoostRows(const Dataset& data, const BinsWithSums& bins, const ScoreForm& form, const BoostOptions& options);
  /// The scores of each row become `start`.
  void BeginAt(const std::vector<double>& start);
  /// What the tree adds to the scores of each row.
  void Add(const Tree& tree);
  /// The weighed mean of the rows' losses.
  double Loss(const ScoreForm& form) const;

  uint8_t Code(int64_t column, int64_t row) const { return codes[static_cast<size_t>(column * count + row)]; }
  double Weight(int64_t row) const { return weights.empty() ? 1 : weights[static_cast<size_t>(row)]; }
};

}  // namespace lamina
