// Answers to rows by models that have not seen them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lamina/model/evaluate.h"
#include "lamina/run/run_plan.h"

namespace lamina {

/// The answer to every row by the model that has not seen it. Rows that no fold tests have none.
struct OutOfFold {
  struct Row {
    int64_t row = 0;   // of the table
    int64_t fold = 0;  // 0: none
    std::string truth;
    std::string predicted;
    std::vector<double> numbers;  // classes: one output a class, NaN where its model does not know it; values: answers
  };
  std::vector<std::string> targets;
  std::vector<std::string> classes;  // of all folds' models; empty for values
  std::vector<Row> rows;             // ascending

  /// row,fold,TARGET,predicted,p_CLASS,... or row,fold,TARGET,...,predicted_TARGET,...
  std::string Csv() const;

  /// A sentence for each class that cannot be in every one of so many folds.
  std::vector<std::string> RareClasses(int64_t folds) const;
};

/// Takes them fold by fold. The raw rows and the settings outlive it.
class OutOfFoldCollector {
 public:
  OutOfFoldCollector(const RawData& raw, const TrainSettings& settings) : table_(raw.main.train), settings_(settings) {}

  /// What `model` says to the rows that its fold tests: `outputs` of NetworkOutputs(). Throws Error(kBadModel) where
  /// one is not a finite number.
  std::vector<ScoredRows> Take(int64_t fold, const Model& model, const Dataset& test, const Matrix& outputs);

  /// In the order of the table, also those without an answer.
  OutOfFold Finish();

  Evaluation Evaluated(std::span<const ScoredRows> scored, const CostMatrix& costs) const {
    return EvaluateScored(scored, out_.classes, costs);
  }

  /// All out-of-fold answers as one, classes by their places in the list of all, and their rows. Before Finish().
  std::pair<std::vector<ScoredRows>, std::vector<int64_t>> FinishScores();

 private:
  int32_t ClassIndex(const std::string& name);
  void TakeClasses(int64_t fold, const std::vector<std::string>& names, const ScoredRows& scored, const Dataset& test);
  void TakeValues(int64_t fold, const std::vector<ScoredRows>& scored, const Dataset& test);

  const Table& table_;
  const TrainSettings& settings_;
  OutOfFold out_;
  std::vector<ScoredRows> scored_;
};

}  // namespace lamina
