// Outputs beside their truth.
#include "lamina/model/scored_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/model/outputs.h"
#include "lamina/model/predictions.h"

namespace lamina {

const std::vector<std::vector<int32_t>>& ScoredRows::Ranking() const {
  if (ranking_.empty()) {
    const int64_t first = classes == 2 ? 1 : 0;
    for (int64_t c = first; c < classes; ++c) {
      std::vector<int32_t> order(labels.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return Score(a, c) > Score(b, c); });
      ranking_.push_back(std::move(order));
    }
  }
  return ranking_;
}

std::vector<double> LevelsOf(std::span<const ScoredRows> targets) {
  std::vector<double> levels;
  for (const ScoredRows& rows : targets) {
    if (rows.level > 0) {
      levels.push_back(rows.level);
    }
  }
  return levels;
}

bool AnswersProbabilities(const Model& model) {
  const TargetEncoder& targets = model.preprocessor.targets();
  if (targets.task() != Task::kClassification || targets.form().positive != 1 || targets.form().negative != 0) {
    return false;
  }
  const Activation& last = model.network.layers().back().activation;
  return last.is_softmax() || model.nearest > 0 || (model.network.outputs() == 1 && last.Text() == "sigmoid");
}

std::vector<ScoredRows> ScoreRows(const Model& model, const Matrix& outputs, std::span<const int32_t> labels,
                                  const Matrix& truth) {
  const TargetEncoder& encoder = model.preprocessor.targets();
  const std::vector<std::string> names = encoder.answer_names();
  if (encoder.task() == Task::kClassification) {
    ScoredRows rows;
    rows.target = names[0];
    rows.classes = std::ssize(encoder.class_names());
    rows.probabilities = AnswersProbabilities(model);
    const std::vector<int32_t> predicted = ClassesOf(model, outputs);
    for (int64_t i = 0; i < outputs.rows(); ++i) {
      if (predicted[static_cast<size_t>(i)] < 0) {
        continue;
      }
      rows.labels.push_back(labels[static_cast<size_t>(i)]);
      rows.predicted.push_back(predicted[static_cast<size_t>(i)]);
      std::vector<double> scores = ClassOutputs(model, outputs.Row<double>(i));
      for (double& score : scores) {
        score = encoder.highest_wins() ? score : -score;
      }
      rows.scores.insert(rows.scores.end(), scores.begin(), scores.end());
    }
    return {rows};
  }
  std::vector<ScoredRows> all(static_cast<size_t>(outputs.cols()));
  for (int64_t j = 0; j < outputs.cols(); ++j) {
    ScoredRows& rows = all[static_cast<size_t>(j)];
    rows.target = names[static_cast<size_t>(j)];
    rows.level = encoder.LevelOf(j);
    for (int64_t i = 0; i < outputs.rows(); ++i) {
      const double answer = outputs.Row<double>(i)[j];
      const double right = truth.Row<double>(i)[j];
      if (!std::isnan(answer) && !std::isnan(right)) {
        rows.truth.push_back(right);
        rows.answers.push_back(answer);
      }
    }
  }
  return all;
}

std::vector<ScoredRows> ScoreDataset(const Model& model, const Matrix& network_outputs, const Dataset& dataset) {
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  return ScoreRows(model, InTargetUnits(model, network_outputs), dataset.labels,
                   classes ? Matrix() : InTargetUnits(model, dataset.targets));
}

}  // namespace lamina
