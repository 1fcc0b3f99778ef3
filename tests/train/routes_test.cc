// Every technique of the library's list with every route and backend. Either the weights are those of plain loops layer
// by layer, or a refusal names the technique, as the list says.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/nn/parameter_table.h"
#include "lamina/nn/routes.h"
#include "lamina/settings/layers_text.h"
#include "lamina/settings/settings_text.h"
#include "tests/caught_error.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

constexpr int64_t kRouteRows = 26;
constexpr int64_t kRouteInputs = 6;

// What is trained: the plain network, with one technique.
struct Trial {
  explicit Trial(DType dtype)
      : layers({{kRouteInputs, 8, Synapse::kDot, "tanh", true},
                {8, 5, Synapse::kDot, "tanh", true},
                {5, 1, Synapse::kDot, "identity", true}}),
        data(RandomDataset(kRouteRows, kRouteInputs, 0, dtype, 3)) {
    options.step.loss = Loss::kMse;
    options.step.seed = 5;
    options.rule.kind = UpdateKind::kSgd;
    options.rule.learning_rate = 0.05;
    options.rule.momentum = 0.5;
    options.epochs = 3;
    options.batch = 8;
  }
  Network Start() const {
    Network network(layers, data.features.dtype(), members);
    network.Initialize(Initialization::kGlorotUniform, 7);
    if (options.step.embedding_layers > 0) {  // each neuron is of one column
      for (int64_t n = 0; n < layers[0].weight_count(); ++n) {
        if (n % kRouteInputs != n / kRouteInputs % kRouteInputs) {
          network.Weights(0).Row<double>(0)[n] = 0;
        }
      }
    }
    return network;
  }
  Techniques Used() const { return TechniquesOf(layers, members, options.step); }
  Network Run(const Backend& backend) const { return Train(backend, options, Start(), data).network; }

  std::vector<LayerSpec> layers;
  int64_t members = 1;
  TrainOptions options;
  Dataset data;
};

using Change = void (*)(Trial&);

// How a trial uses a technique. One that is missing fails below.
const std::map<Technique, Change>& Changes() {
  static const std::map<Technique, Change> changes{
      {Technique::kLowPrecision, [](Trial& t) { t.options.step.precision = Precision::kBFloat16; }},
      {Technique::kClipping, [](Trial& t) { t.options.step.clip_norm = 0.05; }},
      {Technique::kFrozen,
       [](Trial& t) {
         t.options.step.frozen = {true, false, false};
       }},
      {Technique::kRates, [](Trial& t) { t.options.step.bias_rate = 0.25; }},
      {Technique::kTrainedRadius,
       [](Trial& t) { t.layers[0] = ParseLayers("l2-gaussian(radius=2)-radius:8", kRouteInputs, true)[0]; }},
      {Technique::kResidual,
       [](Trial& t) { t.layers = ParseLayers("dot-tanh:8,residual(dot-tanh:8),dot-identity:1", kRouteInputs, true); }},
      {Technique::kDropout, [](Trial& t) { t.options.step.dropout = 0.3; }},
      {Technique::kMixup, [](Trial& t) { t.options.step.mixup = 0.4; }},
      {Technique::kNormalization, [](Trial& t) { t.options.step.normalization = Normalization::kBatch; }},
      {Technique::kFrontScale, [](Trial& t) { t.options.step.front_scale = 3; }},
      {Technique::kMembers, [](Trial& t) { t.members = 2; }},
      {Technique::kEmbedding, [](Trial& t) { t.options.step.embedding_layers = 1; }}};
  return changes;
}

Trial TrialOf(Technique technique) {
  Trial trial(technique == Technique::kLowPrecision ? DType::kF32 : DType::kF64);
  Changes().at(technique)(trial);
  return trial;
}

std::vector<double> NumbersOf(const Network& network) {
  std::vector<double> numbers;
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    const auto* first = static_cast<const T*>(network.parameters());
    numbers.assign(first, first + network.parameter_bytes() / static_cast<int64_t>(sizeof(T)));
  });
  return numbers;
}

void ExpectSameNetwork(const Network& got, const Network& expected, double bound) {
  const std::vector<double> a = NumbersOf(got);
  const std::vector<double> b = NumbersOf(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], bound * (1 + std::abs(b[i]))) << "number " << i;
  }
}

double BoundOf(Technique technique) { return technique == Technique::kLowPrecision ? 0.02 : 1e-9; }

// Runs `trial` and compares it, where the route accepts the technique; else expects a refusal in its words.
void ExpectAsListed(const TechniqueRow& row, Route route, const Trial& trial, const Backend& backend,
                    const Network& expected) {
  if (row.RefusedBy(route)) {
    const Error error = CaughtError([&] { trial.Run(backend); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(Mentions(error.what(), std::string(row.words))) << error.what();
    return;
  }
  ExpectSameNetwork(trial.Run(backend), expected, BoundOf(row.technique));
}

TEST(Routes, EveryTechniqueIsTried) {
  EXPECT_EQ(Changes().size(), TechniqueTable().size());
  for (const TechniqueRow& row : TechniqueTable()) {
    SCOPED_TRACE(row.words);
    const Trial trial = TrialOf(row.technique);
    for (const TechniqueRow& other : TechniqueTable()) {
      EXPECT_EQ(trial.Used().Has(other.technique), other.technique == row.technique) << other.words;
    }
    if (row.technique != Technique::kLowPrecision && row.technique != Technique::kTrainedRadius) {
      Trial plain(DType::kF64);  // it changes something
      const std::unique_ptr<Backend> serial = MakeBackend("serial");
      const std::vector<double> without = NumbersOf(plain.Run(*serial));
      std::vector<double> with = NumbersOf(trial.Run(*serial));
      with.resize(without.size());  // behind it members have factors of their own
      EXPECT_NE(without, with);
    }
  }
}

TEST(Routes, EveryBackendComputesOrRefuses) {
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  for (const TechniqueRow& row : TechniqueTable()) {
    const Trial trial = TrialOf(row.technique);
    Trial exact = TrialOf(row.technique);
    exact.options.step.precision = Precision::kExact;  // the plain loops have no other
    const Network expected = exact.Run(*serial);
    for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
      SCOPED_TRACE(fmt::format("{} on {}", row.words, backend->name()));
      if (backend->Supports({trial.layers[0], Pass::kForward, trial.options.batch, trial.data.features.dtype(),
                             trial.options.step.precision})) {
        ExpectSameNetwork(trial.Run(*backend), expected, BoundOf(row.technique));
      }
    }
    if (!conformance::CudaUnderTest().empty()) {
      SCOPED_TRACE(fmt::format("{} on a device", row.words));
      const std::unique_ptr<Backend> device = conformance::Chosen::Make({std::string(conformance::CudaUnderTest())});
      ExpectSameNetwork(trial.Run(*device), expected, BoundOf(row.technique));
    }
  }
}

// Two techniques at a time on a GPU, or its emulation: the weights of the plain loops, or their refusal.
TEST(Routes, PairsOnADevice) {
  if (conformance::CudaUnderTest().empty()) {
    GTEST_SKIP() << "no backend cuda in this build";
  }
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  const std::unique_ptr<Backend> device = conformance::Chosen::Make({std::string(conformance::CudaUnderTest())});
  int computed = 0;
  for (const TechniqueRow& first : TechniqueTable()) {
    for (const TechniqueRow& second : TechniqueTable()) {
      if (first.technique >= second.technique || first.technique == Technique::kLowPrecision) {
        continue;
      }
      SCOPED_TRACE(fmt::format("{} and {}", first.words, second.words));
      Trial trial = TrialOf(first.technique);
      Changes().at(second.technique)(trial);
      trial.options.epochs = 2;
      const auto run = [&](const Backend& backend) -> std::variant<Network, std::string> {
        try {
          return trial.Run(backend);
        } catch (const Error& error) {
          return std::string(error.what());
        }
      };
      const auto expected = run(*serial);
      const auto got = run(*device);
      ASSERT_EQ(expected.index(), got.index());
      if (const auto* const network = std::get_if<Network>(&expected)) {
        ++computed;
        ExpectSameNetwork(std::get<Network>(got), *network, 1e-9);
      } else {
        EXPECT_EQ(std::get<std::string>(got), std::get<std::string>(expected));
      }
    }
  }
  EXPECT_GT(computed, 40);
}

TEST(Routes, ShardsComputeOrRefuse) {
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  const std::unique_ptr<Backend> cpu = MakeBackend("cpu", {.threads = 2});
  for (const TechniqueRow& row : TechniqueTable()) {
    SCOPED_TRACE(row.words);
    Trial trial = TrialOf(row.technique);
    trial.options.step.precision = Precision::kExact;
    const Network expected = trial.Run(*serial);
    trial.options.shards = 3;
    ExpectAsListed(row, Route::kShards, trial, *cpu, expected);
  }
}

TEST(Routes, LbfgsComputesOrRefuses) {
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  const std::unique_ptr<Backend> cpu = MakeBackend("cpu", {.threads = 2});
  for (const TechniqueRow& row : TechniqueTable()) {
    SCOPED_TRACE(row.words);
    Trial trial = TrialOf(row.technique);
    trial.options.step.precision = Precision::kExact;
    trial.options.lbfgs = true;
    trial.options.batch = kRouteRows;
    trial.options.rule.learning_rate = 1;
    ExpectAsListed(row, Route::kAllRows, trial, *cpu,
                   row.RefusedBy(Route::kAllRows) ? trial.Start() : trial.Run(*serial));
  }
}

// What a step by `rule` makes of `at`, and the mean loss before it. Masks are those of the rule's step.
double LossOfStep(Executor& executor, const Trial& trial, const AlignedBuffer& at, const UpdateRule& rule) {
  executor.SetTrainedParameters(at);
  LossSums sums;
  executor.Step(trial.data.features.view().Rows(0, trial.options.batch),
                trial.data.targets.view().Rows(0, trial.options.batch), nullptr, &rule, &sums);
  return sums.loss / sums.weight;
}

// Whatever is trained: its gradient is the difference of the loss that the same step has a little beside it.
TEST(Routes, GradientsAreDifferencesOfTheLossOfAStep) {
  constexpr double kAside = 1e-6;
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  for (const TechniqueRow& row : TechniqueTable()) {
    if (row.technique == Technique::kLowPrecision || row.technique == Technique::kMembers) {
      continue;  // the loss of members is that of their mean, and their gradients are of the losses of each
    }
    SCOPED_TRACE(row.words);
    Trial trial = TrialOf(row.technique);
    trial.options.step.clip_norm = 0;  // which changes the gradient
    const Network start = trial.Start();
    Executor executor(start, *serial, {.max_batch = trial.options.batch, .training = true, .step = trial.options.step});
    const ParameterTable table(start, trial.options.step, /*training=*/true);
    AlignedBuffer at = executor.TrainedParameters();
    auto* const numbers = static_cast<double*>(at.data());
    UpdateRule rule;
    rule.kind = UpdateKind::kSgd;
    rule.step = 1;
    rule.learning_rate = 1e-3;
    LossOfStep(executor, trial, at, rule);
    const AlignedBuffer after = executor.TrainedParameters();
    const UpdateRule none = [&] {
      UpdateRule still = rule;
      still.learning_rate = 0;
      return still;
    }();
    for (const ParameterBlock& block : table.blocks()) {
      for (int64_t i = block.offset; block.updated && i < block.offset + block.count; ++i) {
        const double value = numbers[i];
        if (value == 0 && trial.options.step.embedding_layers > 0 && block.kind == Parameter::kWeights) {
          continue;  // no weight of the embedding
        }
        const double gradient =
            (value - static_cast<const double*>(after.data())[i]) / (rule.learning_rate * block.rate);
        numbers[i] = value + kAside;
        const double above = LossOfStep(executor, trial, at, none);
        numbers[i] = value - kAside;
        const double below = LossOfStep(executor, trial, at, none);
        numbers[i] = value;
        EXPECT_NEAR(gradient, (above - below) / (2 * kAside), 1e-6)
            << "block " << static_cast<int>(block.kind) << " of layer " << block.layer;
      }
    }
  }
}

// What the executor says of itself is what the list says.
TEST(Routes, ExecutorsAskTheList) {
  const std::unique_ptr<Backend> cpu = MakeBackend("cpu", {.threads = 2});
  for (const TechniqueRow& row : TechniqueTable()) {
    SCOPED_TRACE(row.words);
    const Trial trial = TrialOf(row.technique);
    const Executor executor(trial.Start(), *cpu, {.max_batch = 8, .training = true, .step = trial.options.step});
    const auto refuses = [&](const Verdict& verdict) {
      return !verdict && Mentions(verdict.reason, std::string(row.words)).failure_message() == std::string();
    };
    EXPECT_TRUE(!row.RefusedBy(Route::kWholeNetwork) || refuses(executor.whole_steps()));
    EXPECT_TRUE(!row.RefusedBy(Route::kParts) || refuses(executor.ComputesByParts()));
  }
}

// Settings that ask for a technique say in their help what it does not go with.
TEST(Routes, HelpFollowsTheList) {
  for (const TechniqueRow& row : TechniqueTable()) {
    for (const std::string_view name : row.settings) {
      if (!name.empty()) {
        EXPECT_EQ(RefusalsText(name).find("--shards") != std::string::npos, row.RefusedBy(Route::kShards)) << name;
        EXPECT_TRUE(TrainSettingRow(name).help.ends_with(RefusalsText(name))) << name;
      }
    }
  }
}

}  // namespace
}  // namespace lamina
