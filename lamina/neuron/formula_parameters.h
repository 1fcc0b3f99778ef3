// The parameters of an activation or a loss as a value: "(gain=2,threshold=0.5)" behind its name.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lamina/neuron/formulas.h"

namespace lamina {

/// Cheap to copy.
class FormulaParameters {
 public:
  static constexpr size_t kMost = 7;

  FormulaParameters() = default;  // none

  /// Those of `formula`. F may leave out kParameters.
  template <class F>
  static FormulaParameters Of(const F& formula) {
    constexpr auto kList = ListOf<F>();
    static_assert(kList.size() <= kMost);
    FormulaParameters parameters;
    parameters.count_ = kList.size();
    for (size_t i = 0; i < kList.size(); ++i) {
      parameters.names_[i] = kList[i].name;
      parameters.domains_[i] = kList[i].domain;
      parameters.values_[i] = formula.*(kList[i].member);
    }
    return parameters;
  }

  /// The formula with these values; F is what Of() was given.
  template <class F>
  F Formula() const noexcept {
    F formula{};
    constexpr auto kList = ListOf<F>();
    for (size_t i = 0; i < kList.size(); ++i) {
      formula.*(kList[i].member) = values_[i];
    }
    return formula;
  }

  /// In the order of the formula's kParameters.
  std::span<const double> values() const { return {values_.data(), count_}; }
  /// The place of a parameter, -1: there is none of that name.
  int Find(std::string_view name) const;
  void Set(int i, double value) { values_[static_cast<size_t>(i)] = value; }

  /// "(gain=2,threshold=0.5)", nothing without parameters.
  std::string Text() const;
  /// Takes the values in `text`, of that form; those left out stay. Throws Error(kInvalidArgument) for unknown names,
  /// numbers that are not finite, and where a value leaves its domain. `formula` is the name in front of `text`.
  void Parse(std::string_view formula, std::string_view text);

 private:
  template <class F>
  static constexpr auto ListOf() {
    if constexpr (requires { F::kParameters; }) {
      return F::kParameters;
    } else {
      return std::array<FormulaParameter<F>, 0>{};
    }
  }

  std::array<const char*, kMost> names_{};
  std::array<Domain, kMost> domains_{};
  std::array<double, kMost> values_{};
  size_t count_ = 0;
};

}  // namespace lamina
