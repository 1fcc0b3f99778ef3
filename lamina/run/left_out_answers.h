// What models say to rows that they have not seen, put together, and which of the models answer them best together.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/model/choose_ensemble.h"
#include "lamina/nn/network.h"

namespace lamina {

/// A network and its answers to the rows that its fold tests.
struct TrainedFold {
  Network network;
  Matrix outputs;               // of both, where there is a line
  std::vector<int64_t> rows;    // of the table
  std::optional<Network> line;  // that answers beside the network, half as both count (line_first.h)
};

/// One model's answers to all rows, by its folds' networks.
struct LeftOutModel {
  double temperature = 1;  // of classes: what fits all of them
  Matrix answers;          // f64, rows × outputs: probabilities, or values in the network's units
  Matrix chosen;           // f64: what selection looks at, of classes the probability of the true one
  double loss = 0;         // LeftOutRows::LossOf(chosen)
};

/// A model's part of a mix; the folds outlive it.
struct MixedModel {
  std::span<const TrainedFold> folds;
  double temperature = 1;  // of classes
  double share = 1;
};

/// The rows that folds test, and their truth.
class LeftOutRows {
 public:
  LeftOutRows() = default;
  /// `tests`: of each fold; rows of a table of `table_rows`.
  LeftOutRows(std::span<const Dataset> tests, int64_t table_rows, bool classes);

  bool classes() const { return classes_; }
  int64_t size() const { return targets_.rows(); }

  /// `folds`: once or more often all rows, whose answers then are means. An empty `answers` where one is not a finite
  /// number. Takes outputs that are probabilities as such, others of classes as what goes into a softmax.
  LeftOutModel Together(std::span<const TrainedFold> folds) const;
  /// The sum of LeftOutModel::answers, at these temperatures, times their shares.
  Matrix AnswersOf(std::span<const MixedModel> mix) const;
  /// By what to divide the temperatures of a mix of classes: a mean of probabilities is less sure than each of them
  /// (docs/decisions/0126). By the loss of its answers, and for few rows near to what is usual.
  double SurenessOf(std::span<const MixedModel> mix) const;
  /// Mean -ln of the true class's probability, or mean square, of LeftOutModel::chosen or a mean of such.
  double LossOf(const Matrix& chosen) const { return LossOf(chosen, INFINITY); }
  /// Greedy selection, in few rounds where rows are few. Its `loss` is LossOf() of the mean. A few far rows do not
  /// choose alone. Beyond six usual errors of the best model, errors of values count by their size, not its square
  /// (docs/decisions/0131).
  EnsembleChoice Choose(std::span<const Matrix> chosen) const;
  /// Targets less answers to all rows, in the order of the table; of values alone.
  Matrix RestOf(const Matrix& answers) const;
  /// Those of answers to all rows that a test asks for.
  Matrix AnswersTo(const Dataset& test, const Matrix& answers, DType dtype) const;

 private:
  int64_t PlaceOf(int64_t row) const { return place_of_[static_cast<size_t>(row)]; }
  std::vector<Matrix> LogitsOf(std::span<const TrainedFold> folds) const;
  double TemperatureOf(std::span<const TrainedFold> folds, std::span<const Matrix> logits) const;
  Matrix MeansOf(std::span<const TrainedFold> folds, std::span<const Matrix> logits, double temperature) const;
  Matrix ChosenOf(const Matrix& answers) const;
  double LimitFor(std::span<const Matrix> chosen) const;
  double LossOf(const Matrix& chosen, double limit) const;

  bool classes_ = false;
  std::vector<int64_t> place_of_;  // of rows of the table; -1: not answered
  Matrix targets_;                 // f64, of the rows that are answered
  std::vector<int32_t> labels_;
};

/// The rows that a fold tests, without their inputs.
Dataset TruthOf(const Dataset& test);

/// The network with probabilities as answers: softmax of what goes into its last activation, over a temperature.
Network WithSoftmax(const Network& network, double temperature);

}  // namespace lamina
