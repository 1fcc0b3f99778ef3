// Parsing and printing of activations, the built-in list, and softmax.
#include "lamina/neuron/activation.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/base/check.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

template <class T>
void SoftmaxRow(const T* z, T* a, int64_t n) noexcept {
  T largest = z[0];
  for (int64_t i = 1; i < n; ++i) {
    largest = formulas::Max(largest, z[i]);
  }
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    a[i] = std::exp(z[i] - largest);
    sum += a[i];
  }
  for (int64_t i = 0; i < n; ++i) {
    a[i] /= sum;
  }
}

std::vector<std::string> NamesWith(std::span<const Activation> custom) {
  std::vector<std::string> names = ActivationNames();
  for (const Activation& activation : custom) {
    names.push_back(activation.name());
  }
  return names;
}

}  // namespace

Activation::Activation() {
  static constexpr Loops kLoops{&ValueLoop<formulas::Identity, float>, &ValueLoop<formulas::Identity, double>,
                                &SlopeLoop<formulas::Identity, float>, &SlopeLoop<formulas::Identity, double>};
  name_ = formulas::Identity::kName;
  loops_ = &kLoops;
}

Activation::Activation(std::string_view text) : Activation(Parse(text)) {}

Activation Activation::Softmax() {
  static constexpr Loops kLoops{
      [](const Activation&, const float* z, float* a, int64_t n) noexcept { SoftmaxRow(z, a, n); },
      [](const Activation&, const double* z, double* a, int64_t n) noexcept { SoftmaxRow(z, a, n); },
      [](const Activation&, const float*, const float*, float*, int64_t) noexcept {
        Check(false, "softmax has no elementwise slope");
      },
      [](const Activation&, const double*, const double*, double*, int64_t) noexcept {
        Check(false, "softmax has no elementwise slope");
      }};
  Activation activation;
  activation.kind_ = kSoftmax;
  activation.name_ = "softmax";
  activation.loops_ = &kLoops;
  return activation;
}

Activation Activation::Parse(std::string_view text, std::span<const Activation> custom) {
  const size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  Activation result;
  bool found = false;
  for (const Activation& activation : custom) {
    if (activation.name() == name) {
      result = activation;
      found = true;
    }
  }
  if (!found && name == "softmax") {
    result = Softmax();
    found = true;
  }
  for (size_t i = 0; !found && i < std::tuple_size_v<formulas::BuiltinActivations>; ++i) {
    VisitFormula<formulas::BuiltinActivations>(i, [&]<class F>(F formula) {
      if (name == F::kName) {
        result = Of(formula, static_cast<int>(i));
        found = true;
      }
    });
  }
  if (!found) {
    throw Error(ErrorCode::kInvalidArgument, "unknown activation",
                {.value = std::string(name),
                 .remedy = DidYouMean(name, NamesWith(custom)) +
                           fmt::format("Known: {}.", fmt::join(NamesWith(custom), ", "))});
  }
  if (open == std::string_view::npos) {
    return result;
  }
  result.parameters_.Parse(name, text.substr(open));
  return result;
}

double Activation::radius() const {
  const int at = kind_ >= 0 ? parameters_.Find("radius") : -1;
  return at >= 0 ? parameters()[static_cast<size_t>(at)] : 0;
}

Activation Activation::WithRadius(double radius) const {
  Check(this->radius() > 0 && radius > 0, "only a positive radius, of an activation that has one");
  Activation result = *this;
  result.parameters_.Set(parameters_.Find("radius"), radius);
  return result;
}

std::string Activation::Text() const { return name_ + parameters_.Text(); }

std::vector<std::string> ActivationNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::tuple_size_v<formulas::BuiltinActivations>; ++i) {
    VisitFormula<formulas::BuiltinActivations>(i, [&]<class F>(F) { names.emplace_back(F::kName); });
  }
  names.emplace_back("softmax");
  return names;
}

}  // namespace lamina
