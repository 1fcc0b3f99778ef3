// Rows with their truth and a model's answers, whatever made them: what metrics and comparisons are computed from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/model/model.h"

namespace lamina {

/// Rows of one target. Classes have labels, predicted and scores; values have truth and answers.
struct ScoredRows {
  std::string target;
  int64_t classes = 0;             // 0: values
  std::vector<int32_t> labels;     // a class; -1: one that the model does not know
  std::vector<int32_t> predicted;  // -1: none
  std::vector<double> scores;      // rows × classes: the greater, the likelier
  bool probabilities = false;      // the scores of a row are probabilities
  std::vector<double> truth;
  std::vector<double> answers;
  double level = 0;  // the answers are this quantile; 0: none
  /// For each class (one of two: the second one) the rows by falling score; made when it is first asked for.
  const std::vector<std::vector<int32_t>>& Ranking() const;

  int64_t size() const { return classes > 0 ? std::ssize(labels) : std::ssize(truth); }
  double Score(int64_t row, int64_t class_index) const {
    return scores[static_cast<size_t>(row * classes + class_index)];
  }

 private:
  mutable std::vector<std::vector<int32_t>> ranking_;
};

/// The quantiles that the answers are; empty where they are none.
std::vector<double> LevelsOf(std::span<const ScoredRows> targets);

/// Whether the outputs of `model` for a row are probabilities of its classes.
bool AnswersProbabilities(const Model& model);

/// The outputs of PredictRows() with the truth of the same rows: one a target. `labels` for classes; `truth` (rows ×
/// targets) for values. Rows whose output is NaN are left out, and values whose truth is NaN.
std::vector<ScoredRows> ScoreRows(const Model& model, const Matrix& outputs, std::span<const int32_t> labels,
                                  const Matrix& truth);
/// The same of network outputs and the encoded rows that they answer.
std::vector<ScoredRows> ScoreDataset(const Model& model, const Matrix& network_outputs, const Dataset& dataset);

}  // namespace lamina
