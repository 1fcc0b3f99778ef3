// A loss as a value: one of the list in formulas.inc with its parameters, and what it asks of the output layer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/neuron/activation.h"
#include "lamina/neuron/formula_parameters.h"

namespace lamina {

/// Value semantics; cheap to copy. Text form, stored in files: "mse", "cross_entropy".
///
/// Scaling. With N samples and P outputs, mse is 1/N sum_i ||y_i - a_i||^2 (2016
/// paper, eq. (1)). Its gradient is the true one, with the factor 2. The papers'
/// algorithms drop that 2, so their learning rate 0.1 is 0.05 here. All other losses,
/// too, are summed over outputs and averaged over samples. Logarithms are natural.
class Loss {
 public:
  /// Index in formulas::Losses.
  enum Kind { kMse, kCrossEntropy, kBinaryCrossEntropy, kMae, kHuber, kQuantile, kPoisson, kGamma, kFocal };

  Loss(Kind kind = kMse);  // NOLINT(google-explicit-constructor): with the formula's own parameters
  /// Throws Error(kInvalidArgument) with the nearest known name, or for wrong parameters.
  static Loss Parse(std::string_view text);

  /// The quantile loss of these levels, one output each for every target. Throws Error(kInvalidArgument) unless they
  /// ascend, above 0 and below 1, at most 7.
  static Loss Quantiles(std::span<const double> levels);

  Kind kind() const { return kind_; }
  /// Those of the quantile loss, ascending; empty: every target has one output.
  std::vector<double> levels() const;
  std::string_view name() const;
  /// The text form; Parse(Text()) gives an equal loss.
  std::string Text() const { return std::string(name()) + parameters_.Text(); }
  /// Whether it is for classes, so that the targets can be smoothed.
  bool of_classes() const {
    return targets() == LossTargets::kProbabilities || targets() == LossTargets::kDistribution;
  }
  /// Whether the formula's gradient is by the output a; else by z, the slope of the output activation included.
  bool by_output() const;
  LossTargets targets() const;
  /// The name of the output activation that it needs; empty: any.
  std::string_view output() const;

  /// Label smoothing: a target y of one of `outputs` counts as keep y + even, `share` of it spread evenly over the
  /// classes.
  struct Smoothed {
    double keep = 1;
    double even = 0;
  };
  Smoothed Smooth(double share, int64_t outputs) const;

  /// Calls fn(formula) with the formula and this loss's parameters.
  template <class Fn>
  void Visit(const Fn& fn) const {
    VisitFormula<formulas::Losses>(static_cast<size_t>(kind_), [&]<class L>(L) { fn(parameters_.Formula<L>()); });
  }

  friend bool operator==(const Loss& a, const Loss& b) { return a.Text() == b.Text(); }

 private:
  Kind kind_;
  FormulaParameters parameters_;
};

/// The names a user can write, in list order.
std::vector<std::string> LossNames();

/// Whether targets can be smoothed: they must be those of classes.
Verdict LossSmooths(const Loss& loss);

/// Whether the loss can be over this output activation.
Verdict LossAccepts(const Loss& loss, const Activation& output);

}  // namespace lamina
