// Update rules fused into the weight gradient, and the loss, against the oracle on every configuration.
#include "tests/conformance/configurations.h"
#include "tests/loss_oracle.h"

namespace lamina::conformance {
namespace {

class UpdateConformance : public testing::TestWithParam<Configuration> {};

struct NamedRule {
  UpdateRule rule;
  oracle::Step step;
};

// Every rule with and without decay, and momentum where it has any.
std::vector<NamedRule> Rules() {
  std::vector<NamedRule> rules;
  for (const std::string& name : UpdateKindNames()) {
    const UpdateKind kind = ParseUpdateKind(name);
    const bool reads_momentum = UpdateReads(kind, "momentum");
    const double rate = reads_momentum ? 0.05 : 0.01;
    for (const double momentum : reads_momentum ? std::vector{0.0, 0.8} : std::vector{0.0}) {
      for (const double decay : {0.0, 0.03}) {
        rules.push_back({{.kind = kind,
                          .learning_rate = rate,
                          .momentum = momentum,
                          .weight_decay = decay,
                          .beta2 = 0.99,
                          .step = 7},
                         {name, rate, momentum, decay, 0.9, 0.99, 1e-8, 7}});
      }
    }
  }
  return rules;
}

// One parameter array with its state, in the type under test and as the oracle's doubles.
template <class T>
struct Parameters {
  Dense value, state0, state1;
  Guarded<T> value_t, gradient_t, state0_t, state1_t;

  // The last state is a mean of squares in rules that divide by its root.
  Parameters(int64_t rows, int64_t cols, const UpdateRule& rule)
      : value(Reals(rows, cols, 1)),
        state0(Reals(rows, cols, 2)),
        state1(Reals(rows, cols, 3)),
        value_t(value, 0),
        gradient_t(rows, cols, 0),
        state0_t(state0, 0),
        state1_t(0, 0, 0) {
    Dense& squares = rule.StateCount() == 1 && UpdateReads(rule.kind, "epsilon") ? state0 : state1;
    for (double& s : squares.values) {
      s = s * s + 0.5;
      s = static_cast<double>(static_cast<float>(s));
    }
    state0_t = Guarded<T>(state0, 0);
    state1_t = Guarded<T>(state1, 0);
  }

  ParameterArrays Arrays(int states) {
    return {value_t.data(),
            gradient_t.data(),
            {states > 0 ? state0_t.data() : nullptr, states > 1 ? state1_t.data() : nullptr}};
  }

  void Expect(const Dense& gradient, const NamedRule& named, bool decay) {
    const int states = named.rule.StateCount();
    oracle::Step step = named.step;
    step.lambda = decay ? step.lambda : 0;
    const double eps = std::numeric_limits<T>::epsilon();
    Dense value_bounds = value, state0_bounds = value, state1_bounds = value;
    for (size_t i = 0; i < value.values.size(); ++i) {
      const double before = std::abs(value.values[i]) + std::abs(state0.values[i]) + std::abs(gradient.values[i]);
      double unused0 = 0, unused1 = 0;
      step.Apply(gradient.values[i], &value.values[i], states > 0 ? &state0.values[i] : &unused0,
                 states > 1 ? &state1.values[i] : &unused1);
      value_bounds.values[i] = state0_bounds.values[i] = 4 * eps * (1 + before);
      if (states == 1 && UpdateReads(named.rule.kind, "epsilon")) {
        state0_bounds.values[i] = 4 * eps * (std::abs(state0.values[i]) + before * before * 0.01);
      }
      state1_bounds.values[i] = 4 * eps * (std::abs(state1.values[i]) + before * before * 0.01);
    }
    EXPECT_TRUE(MatchesOracle<T>(value_t.view(), value, &value_bounds));
    EXPECT_TRUE(value_t.GuardsIntact());
    if (states > 0) {
      EXPECT_TRUE(MatchesOracle<T>(state0_t.view(), state0, &state0_bounds));
      EXPECT_TRUE(state0_t.GuardsIntact());
    }
    if (states > 1) {
      EXPECT_TRUE(MatchesOracle<T>(state1_t.view(), state1, &state1_bounds));
      EXPECT_TRUE(state1_t.GuardsIntact());
    }
  }
};

template <class T>
void CheckUpdate(const Chosen& backend, const NamedRule& named, Synapse synapse, const Shape& shape, bool bias) {
  SCOPED_TRACE(testing::Message() << SynapseName(synapse) << " " << named.step.kind << " alpha " << named.step.alpha
                                  << " lambda " << named.step.lambda << " " << DTypeName(DTypeOf<T>()) << " "
                                  << shape.batch << "x" << shape.outputs << "x" << shape.inputs);
  const Dense x = Integers(shape.batch, shape.inputs, 4);
  const Dense delta = Integers(shape.batch, shape.outputs, 5);
  Guarded<T> x_t(x, 1), delta_t(delta, 2);
  Parameters<T> weights(shape.outputs, shape.inputs, named.rule), biases(1, shape.outputs, named.rule);
  const Dense distance(shape.batch, shape.outputs, 2.0);
  Guarded<T> distance_t(distance, 1);
  const int states = named.rule.StateCount();
  const auto layer =
      backend->Prepare({{shape.inputs, shape.outputs, synapse, "identity", bias}, DTypeOf<T>(), shape.batch, true});
  const Dense gradient = oracle::WeightGradient(SynapseName(synapse), {delta, x, weights.value, distance}).value;
  layer->WeightGradient({x_t.view(), delta_t.view(), weights.Arrays(states),
                         bias ? biases.Arrays(states) : ParameterArrays{}, &named.rule, distance_t.view()});
  weights.Expect(gradient, named, true);
  if (bias) {
    biases.Expect(oracle::BiasGradient(delta).value, named, false);
  }
}

TEST_P(UpdateConformance, FollowsEveryRule) {
  const Chosen backend(GetParam());
  for (const NamedRule& named : Rules()) {
    for (const Shape& shape :
         {Shape{0, 3, 5}, {1, 1, 1}, {2, 3, 5}, {16, 25, 49}, {33, 10, 131}, {130, 70, 50}, {1100, 30, 60}}) {
      CheckUpdate<float>(backend, named, Synapse::kDot, shape, shape.batch != 33);
      if (GetParam().Supports(DType::kF64)) {
        CheckUpdate<double>(backend, named, Synapse::kDot, shape, shape.batch != 33);
      }
    }
  }
}

TEST_P(UpdateConformance, OfDistancesFollowsEveryRule) {
  const Chosen backend(GetParam());
  for (const Synapse synapse : GetParam().Distances()) {
    for (const NamedRule& named : Rules()) {
      for (const Shape& shape : {Shape{0, 3, 5}, {1, 1, 1}, {2, 3, 5}, {16, 25, 49}, {33, 10, 131}, {130, 70, 50}}) {
        CheckUpdate<float>(backend, named, synapse, shape, shape.batch == 33);
        if (GetParam().Supports(DType::kF64)) {
          CheckUpdate<double>(backend, named, synapse, shape, shape.batch == 33);
        }
      }
    }
  }
}

struct LossCase {
  Loss loss;
  Activation activation;
};

// Every loss, and huber with a corner inside the distances, over every activation that it accepts.
std::vector<LossCase> LossCases() {
  std::vector<Activation> activations = ElementwiseActivations();
  activations.emplace_back("softmax");
  std::vector<std::string> losses = LossNames();
  losses.emplace_back("huber(delta=0.25)");
  losses.emplace_back("quantile(q1=0.1,q2=0.5,q3=0.9)");
  losses.emplace_back("focal(gamma=0.7)");
  std::vector<LossCase> cases;
  for (const std::string& loss : losses) {
    for (const Activation& activation : activations) {
      if (LossAccepts(Loss::Parse(loss), activation)) {
        cases.push_back({Loss::Parse(loss), activation});
      }
    }
  }
  return cases;
}

// The parameters in the loss's text.
std::vector<double> NumbersOf(const Loss& loss) {
  std::vector<double> numbers;
  const std::string text = loss.Text();
  for (size_t i = text.find('='); i != std::string::npos; i = text.find('=', i + 1)) {
    numbers.push_back(std::stod(text.substr(i + 1)));
  }
  return numbers;
}

template <class T>
void CheckLoss(const Chosen& backend, const LossCase& c, int64_t outputs, bool weighted, double smoothing = 0) {
  SCOPED_TRACE(testing::Message() << c.loss.Text() << " " << c.activation.Text() << " " << outputs << " " << smoothing);
  const int64_t batch = 13;
  const Dense z = Reals(batch, outputs, 6);
  const oracle::Curve curve = CurveOf(c.activation);
  Dense a = c.activation.is_softmax() ? oracle::Softmax(z) : z;
  Dense y(batch, outputs), weights = Reals(1, batch, 7);
  for (int64_t i = 0; i < batch; ++i) {
    y.at(i, (i * 7) % outputs) = outputs > 1 ? 1 : static_cast<double>(i % 2);
    weights.at(0, i) = weighted ? std::abs(weights.at(0, i)) : 1;
    for (int64_t j = 0; j < outputs && !c.activation.is_softmax(); ++j) {
      a.at(i, j) = curve.Value(z.at(i, j));
    }
  }
  Guarded<T> z_t(z, 1), a_t(a, 2), y_t(y, 0), weights_t(weights, 0), delta(batch, outputs, 3);
  LossSums sums{.loss = 1, .weight = 2, .correct = 3, .samples = 4};  // added to
  LossArgs args{.loss = c.loss,
                .activation = &c.activation,
                .a = a_t.view(),
                .targets = y_t.view(),
                .sample_weights = weighted ? weights_t.data() : nullptr,
                .label_smoothing = smoothing,
                .delta = delta.view(),
                .sums = &sums};
  if (c.activation.slope_needs_input()) {
    args.z = z_t.view();
  }
  backend->ComputeLoss(args);

  const double eps = std::numeric_limits<T>::epsilon();
  Dense want(batch, outputs), bounds(batch, outputs, 32 * eps);
  double loss = 1, weight = 2, size = 1;  // size: of the terms, what rounding is relative to
  int64_t correct = 3;
  for (int64_t i = 0; i < batch; ++i) {
    const auto row = [&](const Dense& m) {
      return std::vector<double>(m.values.begin() + i * outputs, m.values.begin() + (i + 1) * outputs);
    };
    std::vector<double> target = row(y);
    for (double& each : target) {
      each = (1 - smoothing) * each + smoothing / (c.loss == Loss::kCrossEntropy ? static_cast<double>(outputs) : 2);
    }
    const oracle::LossResult sample =
        oracle::SampleLoss(std::string(c.loss.name()), curve, row(z), row(a), target, 1e-7, NumbersOf(c.loss));
    loss += weights.at(0, i) * sample.loss;
    size += weights.at(0, i) * (std::abs(sample.loss) + static_cast<double>(outputs));
    weight += weights.at(0, i);
    for (int64_t j = 0; j < outputs; ++j) {
      want.at(i, j) = weights.at(0, i) * sample.delta[static_cast<size_t>(j)] / static_cast<double>(batch);
    }
    const auto largest = [](const std::vector<double>& v) { return std::max_element(v.begin(), v.end()) - v.begin(); };
    correct += outputs == 1 ? (a.at(i, 0) > 0.5) == (y.at(i, 0) > 0.5) : largest(row(a)) == largest(row(y));
  }
  EXPECT_TRUE(MatchesOracle<T>(delta.view(), want, &bounds));
  EXPECT_NEAR(sums.loss, loss, 64 * eps * size);
  EXPECT_NEAR(sums.weight, weight, 64 * eps * weight);
  EXPECT_EQ(sums.correct, correct);
  EXPECT_EQ(sums.samples, 4 + batch);
  EXPECT_TRUE(delta.GuardsIntact());
}

TEST_P(UpdateConformance, EveryLossWithEveryActivationItAccepts) {
  const Chosen backend(GetParam());
  for (const LossCase& c : LossCases()) {
    for (const int64_t outputs : {1, 2, 10}) {
      for (const bool weighted : {false, true}) {
        CheckLoss<float>(backend, c, outputs, weighted);
        CheckLoss<double>(backend, c, outputs, weighted);
      }
    }
  }
}

TEST_P(UpdateConformance, SmoothedTargets) {
  const Chosen backend(GetParam());
  for (const int64_t outputs : {1, 2, 10}) {
    CheckLoss<float>(backend, {Loss::kCrossEntropy, "softmax"}, outputs, true, 0.1);
    CheckLoss<double>(backend, {Loss::kCrossEntropy, "softmax"}, outputs, false, 0.3);
    CheckLoss<float>(backend, {Loss::kBinaryCrossEntropy, "sigmoid"}, outputs, false, 0.1);
    CheckLoss<double>(backend, {Loss::kBinaryCrossEntropy, "sigmoid"}, outputs, true, 0.3);
  }
}

INSTANTIATE_TEST_SUITE_P(All, UpdateConformance, testing::ValuesIn(AllConfigurations()),
                         [](const auto& info) { return info.param.Name(); });

}  // namespace
}  // namespace lamina::conformance
