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
  /// A probability or a value for each score.
  void AnswersOf(const double* scores, double* answers) const;
  /// The same for each output.
  void AllAnswersOf(const double* scores, double* answers) const;
  /// Cross-entropy, or the sum of squares. `targets`: one a score.
  double LossOf(const double* scores, const double* targets) const;
};

}  // namespace lamina
