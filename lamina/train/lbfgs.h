// L-BFGS: quasi-Newton steps by the gradient of all rows, for small data.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lamina/backend/training_steps.h"
#include "lamina/base/buffer.h"
#include "lamina/nn/executor.h"

namespace lamina {

/// Limited-memory BFGS (Liu and Nocedal 1989; Nocedal and Wright 2006, algorithm 7.4) with a line search for the weak
/// Wolfe conditions (Lewis and Overton 2013). It minimizes the mean loss of all rows plus weight_decay / 2 times the
/// sum of the squared weights (not biases). Computes in f64 on the host, whatever the backend. What it remembers is an
/// optimiser's state like others: a checkpoint has it.
class Lbfgs {
 public:
  static constexpr int kPairs = 10;  // that the curvature is known from
  static constexpr int kStates =
      2 * kPairs + 2;                          // steps, each with its change of the gradient; last point and gradient
  static constexpr int64_t kIterations = 300;  // where nobody says how many

  /// `executor` takes all rows as one batch, of a network and steps that Route::kAllRows accepts; it and `backend` must
  /// outlive this.
  Lbfgs(Executor& executor, const Backend& backend, const Network& network, double weight_decay);
  ~Lbfgs();

  /// One iteration on the rows of `work`, all of them; `iteration` from 0. Adds the loss before it to work.sums. Leaves
  /// the parameters alone where no step makes the loss less. Returns 1, the steps done.
  int64_t Step(const TrainingSteps& work, int64_t iteration);
  /// The last step made the loss less by no more than rounding does.
  bool converged() const { return converged_; }

  /// kStates arrays, laid out like Network::parameters().
  const std::vector<AlignedBuffer>& state() const { return states_; }
  void SetState(std::vector<AlignedBuffer> states) { states_ = std::move(states); }

 private:
  using Vector = std::vector<double>;  // the trained numbers, without the gaps of the flat array
  struct Range {
    int64_t begin;
    int64_t count;
    bool decays;
  };
  struct Point {
    double value = 0;
    Vector gradient;
  };

  Vector Unpacked(const AlignedBuffer& flat) const;
  void Pack(const Vector& numbers, AlignedBuffer& flat) const;
  Vector Read(const Buffer& array) const;
  void SetParameters(const Vector& w);
  // The loss and its gradient at the executor's parameters, which are `w`.
  Point Evaluate(const TrainingSteps& work, const Vector& w, LossSums* sums);
  Vector Direction(const Vector& gradient, int64_t iteration) const;

  Executor& executor_;
  const Backend& backend_;
  DType dtype_;
  double weight_decay_;
  std::vector<Range> ranges_;
  int64_t count_ = 0;
  std::unique_ptr<Buffer> own_sums_;  // of points that are tried
  std::vector<AlignedBuffer> states_;
  bool converged_ = false;
};

}  // namespace lamina
