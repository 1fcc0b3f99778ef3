// What the scores of boosted trees say.
#pragma once

#include <cstdint>

namespace lamina {

/// Scores of classes go into a softmax; two classes have one score, of the second. Else a score is a target's value.
struct ScoreForm {
  bool classes = false;
  int64_t outputs = 1;

  int64_t scores() const { return classes && outputs == 2 ? 1 : outputs; }
  /// The score of a constant answer: of a class the logarithm of its share (of one score that of the odds).
  double ScoreOf(double mean) const;
  /// A probability or a value for each score of each row.
  void AnswersOf(const double* scores, int64_t rows, double* answers) const;
  /// The loss of each row: cross-entropy, or the sum of squares. `targets`: one a score.
  void LossesOf(const double* scores, const double* targets, int64_t rows, double* losses) const;
};

}  // namespace lamina
