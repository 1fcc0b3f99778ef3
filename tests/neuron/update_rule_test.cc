// Update rules against scalar loops written from the papers, over several steps.
#include "lamina/neuron/update_rule.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/neuron/update_facts.h"
#include "tests/caught_error.h"
#include "tests/neuron/reference_update.h"

namespace lamina {
namespace {

TEST(UpdateRule, NamesRoundTrip) {
  for (const std::string& name : UpdateKindNames()) {
    EXPECT_EQ(UpdateKindName(ParseUpdateKind(name)), name);
  }
  EXPECT_TRUE(Mentions(CaughtError([] { ParseUpdateKind("adan"); }).what(), "Did you mean 'adam'?"));
  EXPECT_THROW(ParseUpdateKind(""), Error);
}

TEST(UpdateRule, StateCount) {
  UpdateRule rule;
  EXPECT_EQ(rule.StateCount(), 0);
  rule.momentum = 0.9;
  EXPECT_EQ(rule.StateCount(), 1);
  rule.kind = UpdateKind::kNesterov;
  rule.momentum = 0;
  EXPECT_EQ(rule.StateCount(), 1);
  rule.kind = UpdateKind::kAdam;
  EXPECT_EQ(rule.StateCount(), 2);
  rule.kind = UpdateKind::kAdamW;
  EXPECT_EQ(rule.StateCount(), 2);
  rule.kind = UpdateKind::kRmsProp;
  EXPECT_EQ(rule.StateCount(), 1);
  rule.kind = UpdateKind::kLion;
  EXPECT_EQ(rule.StateCount(), 1);
}

TEST(UpdateRule, FactsOfTheFormulas) {
  for (const std::string& name : UpdateKindNames()) {
    const UpdateKind kind = ParseUpdateKind(name);
    EXPECT_EQ(UpdateReads(kind, "momentum"), name == "sgd" || name == "nesterov") << name;
    EXPECT_EQ(DefaultLearningRate(kind), name == "lion" ? 1e-4 : UpdateReads(kind, "momentum") ? 0.05 : 1e-3) << name;
    EXPECT_EQ(DefaultBeta2(kind), name == "lion" || name == "rmsprop" ? 0.99 : 0.999) << name;
  }
  EXPECT_FALSE(UpdateReads(UpdateKind::kAdam, "weight_decay")) << "every rule has one";
  for (const std::string& name : UpdateKindNames()) {
    const UpdateKind kind = ParseUpdateKind(name);
    EXPECT_EQ(DecaysApart(kind), name == "adamw" || name == "lion") << name;
    EXPECT_EQ(GrowsWithGradient(kind), name == "sgd" || name == "nesterov") << name;
  }
}

// With no gradient only decay is left: apart from adaptive steps in adamw and lion, inside them in adam and rmsprop.
TEST(UpdateRule, DecayApartAndInside) {
  for (const std::string& name : UpdateKindNames()) {
    UpdateRule rule;
    rule.kind = ParseUpdateKind(name);
    rule.learning_rate = 0.125;
    rule.weight_decay = 0.5;
    double w = 2;
    double v = 0;
    double s = 0;
    const double g = 0;
    double* const states[] = {&v, &s};
    ApplyUpdate<double>(rule, true, 1, &g, &w, states);
    const bool adaptive = name == "adam" || name == "rmsprop";
    EXPECT_NEAR(w, adaptive ? 2 - 0.125 * (name == "adam" ? 1 : 1 / std::sqrt(1 - rule.beta2)) : 2 - 0.125 * 0.5 * 2,
                1e-5)
        << name;
  }
}

class UpdateRuleSteps : public testing::TestWithParam<UpdateRule> {};
INSTANTIATE_TEST_SUITE_P(Rules, UpdateRuleSteps, testing::ValuesIn(ReferenceRules()),
                         [](const auto& info) { return ReferenceRuleName(info.param); });

template <class T>
void RunSteps(UpdateRule rule, bool decay) {
  constexpr size_t kCount = 19;
  std::vector<ReferenceParameter> expected(kCount);
  std::vector<T> w(kCount), v(kCount), s(kCount), g(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    w[i] = static_cast<T>(0.1 * static_cast<double>(i) - 0.7);
    expected[i].w = static_cast<double>(w[i]);
  }
  const double tolerance = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (int64_t step = 1; step <= 7; ++step) {
    for (size_t i = 0; i < kCount; ++i) {
      g[i] = static_cast<T>(std::sin(1.3 * static_cast<double>(i) + static_cast<double>(step)));
      expected[i].Step(rule, decay, static_cast<double>(g[i]), step);
    }
    rule.step = step;
    T* const states[] = {rule.StateCount() > 0 ? v.data() : nullptr, rule.StateCount() > 1 ? s.data() : nullptr};
    ApplyUpdate<T>(rule, decay, kCount, g.data(), w.data(), states);
    for (size_t i = 0; i < kCount; ++i) {
      EXPECT_NEAR(w[i], expected[i].w, tolerance) << "step " << step << ", parameter " << i;
    }
  }
}

TEST_P(UpdateRuleSteps, F64) {
  RunSteps<double>(GetParam(), true);
  RunSteps<double>(GetParam(), false);
}

TEST_P(UpdateRuleSteps, F32) {
  RunSteps<float>(GetParam(), true);
  RunSteps<float>(GetParam(), false);
}

// One step by hand: the momentum term is the last change, not the last gradient.
TEST(UpdateRule, EquationTwoByHand) {
  UpdateRule rule;
  rule.learning_rate = 0.5;
  rule.momentum = 0.25;
  rule.weight_decay = 0.125;
  double w = 2;
  double v = 0;
  double g = 1;
  double* const states[] = {&v, nullptr};
  ApplyUpdate<double>(rule, true, 1, &g, &w, states);
  EXPECT_EQ(w, 2 - 0.5 * 1 - 0.5 * 0.125 * 2);  // 1.375
  g = -1;
  ApplyUpdate<double>(rule, true, 1, &g, &w, states);
  EXPECT_EQ(w, 1.375 + 0.5 + 0.25 * (1.375 - 2) - 0.5 * 0.125 * 1.375);
}

TEST(UpdateRule, AdamTakesItsFirstStepOfTheLearningRate) {
  for (const double gradient : {1e-3, -5.0, 1e6}) {
    UpdateRule rule;
    rule.kind = UpdateKind::kAdam;
    rule.learning_rate = 0.01;
    double w = 1;
    double v = 0;
    double s = 0;
    double* const states[] = {&v, &s};
    ApplyUpdate<double>(rule, true, 1, &gradient, &w, states);
    EXPECT_NEAR(w, 1 - std::copysign(0.01, gradient), 1e-6);
  }
}

}  // namespace
}  // namespace lamina
