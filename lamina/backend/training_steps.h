// Whole training steps as one call of a backend: for networks whose layers are too small to be worth a call each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"

namespace lamina {

/// Consecutive minibatches of a data set in backend memory, a step each.
struct TrainingSteps {
  ConstMatrixView x;                     // all rows × inputs
  ConstMatrixView targets;               // all rows × outputs
  const void* sample_weights = nullptr;  // an element of x's type for every row, or null for ones
  const int64_t* order = nullptr;        // backend memory: sample i is row order[i]; null: row i
  int64_t begin = 0;                     // samples [begin, end)
  int64_t end = 0;
  int64_t batch = 1;              // samples a step; the last may have fewer
  UpdateRule rule;                // of the first step
  const double* rates = nullptr;  // the learning rate of every step; null: that of the rule
  LossSums* sums = nullptr;
  const std::function<bool()>* stop_requested = nullptr;  // asked after every step but the last; may be null

  int64_t count() const { return (end - begin + batch - 1) / batch; }
  /// The rule for step i, counted from the first of these.
  UpdateRule RuleAt(int64_t i) const {
    UpdateRule now = rule;
    now.step += i;
    now.learning_rate = rates == nullptr ? rule.learning_rate : rates[i];
    return now;
  }
  /// The sample weights as a matrix; empty for ones.
  ConstMatrixView WeightColumn() const {
    return sample_weights == nullptr ? ConstMatrixView{}
                                     : ConstMatrixView{sample_weights, x.rows, 1, 1, x.dtype, x.space};
  }
};

/// Where the parameters of a layer are, with gradients and optimizer state; bias all null for a layer without.
struct LayerArrays {
  ParameterArrays weights;  // outputs × inputs
  ParameterArrays bias;     // outputs
};

/// What a network is prepared for. The arrays outlive what is prepared.
struct NetworkPlanRequest {
  std::span<const LayerSpec> layers;
  std::vector<LayerArrays> arrays;
  DType dtype = DType::kF32;
  Precision precision = Precision::kExact;
  int64_t max_batch = 0;
  Loss loss = Loss::kMse;
  double class_threshold = 0.5;
  double label_smoothing = 0;
  int state_count = 0;  // UpdateRule::StateCount()
};

/// A network whose steps are computed as a whole: the same as layer by layer, but for the order of sums. One caller at
/// a time.
class PreparedNetwork {
 public:
  virtual ~PreparedNetwork() = default;
  /// Takes parameters and state from the arrays and leaves them there; gradients are scratch. Returns the steps done:
  /// all of them, or up to the first one whose loss is not finite or after which stop_requested() said true.
  virtual int64_t Run(const TrainingSteps& work) = 0;
  virtual std::string Describe() const = 0;
};

/// A backend that computes some networks as a whole fastest with precision exact.
class SuitsWholeNetworks {
 public:
  virtual ~SuitsWholeNetworks() = default;
  /// Whether this is one of them, for which PrepareNetwork() has a way; arrays need not be there.
  virtual Verdict SuitsWhole(const NetworkPlanRequest& request) const = 0;
};

/// Asks the backend for one step of `rows` samples of the order from `begin` on, without waiting for it.
using StepFunction = std::function<void(int64_t begin, int64_t rows, const UpdateRule& rule)>;

/// Steps that are asked for once; a device then repeats them with other rows and rates. One caller at a time.
class RecordedSteps {
 public:
  virtual ~RecordedSteps() = default;
  /// Does all steps of `work`, which has an order, and waits for them; a loss that is not finite stops nothing. The
  /// addresses in `work` and whatever `step` uses must stay as they were at the last call, or be others.
  virtual void Run(const TrainingSteps& work, const StepFunction& step) = 0;
};

}  // namespace lamina
