// Asked of the formulas themselves: first steps of one weight.
#include "lamina/neuron/update_facts.h"

#include <cmath>

namespace lamina {
namespace {

constexpr double kWeight = 2;
constexpr double kDecay = 0.25;
constexpr double kGradient = 1;

double FirstStep(UpdateKind kind, double gradient, double decay) {
  const UpdateRule rule{.kind = kind, .weight_decay = decay};
  double weight = kWeight;
  double states[kMostStates] = {};
  double* places[kMostStates];
  for (int i = 0; i < kMostStates; ++i) {
    places[i] = &states[i];
  }
  ApplyUpdate<double>(rule, /*decay=*/true, 1, &gradient, &weight, places);
  return weight - kWeight;
}

bool Same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

}  // namespace

bool DecaysApart(UpdateKind kind) {
  return !Same(FirstStep(kind, kGradient, kDecay), FirstStep(kind, kGradient + kDecay * kWeight, 0));
}

bool GrowsWithGradient(UpdateKind kind) {
  return Same(FirstStep(kind, 2 * kGradient, 0), 2 * FirstStep(kind, kGradient, 0));
}

}  // namespace lamina
