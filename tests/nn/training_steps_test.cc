// Whole training steps: small networks on backend cpu against the plain loops layer by layer, and what a call of
// Executor::Steps promises on every backend.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "tests/conformance/configurations.h"
#include "tests/neuron/custom_activations.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

struct Work {
  std::vector<LayerSpec> layers;
  Loss loss = Loss::kMse;
  UpdateRule rule;
  int64_t batch = 1;
  bool weighted = false;
  bool shuffled = true;
};

constexpr int64_t kRows = 23;

// The same numbers in any type: rows, targets that suit the loss, weights, an order.
struct Data {
  Data(const Work& work, DType dtype)
      : x(RandomMatrix(kRows, work.layers.front().inputs, DType::kF32, 1)),
        y(RandomMatrix(kRows, work.layers.back().outputs, DType::kF32, 2, 0, 1)),
        weights(RandomMatrix(kRows, 1, DType::kF32, 3, 0.5, 2)),
        order(kRows) {
    if (work.loss == Loss::kCrossEntropy) {
      for (int64_t i = 0; i < kRows; ++i) {
        std::fill_n(y.Row<float>(i), y.cols(), 0.0F);
        y.Row<float>(i)[i % y.cols()] = 1;
      }
    }
    std::iota(order.begin(), order.end(), int64_t{0});
    Random(4).Shuffle(std::span(order));
    if (dtype == DType::kF64) {
      for (Matrix* matrix : {&x, &y, &weights}) {
        Matrix wide(matrix->rows(), matrix->cols(), dtype);
        std::copy_n(matrix->Row<float>(0), matrix->rows() * matrix->cols(), wide.Row<double>(0));
        *matrix = std::move(wide);
      }
    }
  }
  Matrix x, y, weights;
  std::vector<int64_t> order;
};

// The f32 start in both types.
Network StartOf(const Work& work, DType dtype) {
  Network network(work.layers, dtype);
  network.Initialize(Initialization::kGlorotUniform, 7);
  if (dtype == DType::kF32) {
    return network;
  }
  Network narrow(work.layers, DType::kF32);
  narrow.Initialize(Initialization::kGlorotUniform, 7);
  const auto* from = static_cast<const float*>(narrow.parameters());
  // The arrays start on whole cache lines, so offsets differ between the types.
  for (size_t l = 0; l < work.layers.size(); ++l) {
    const auto copy = [&](const LayerOffsets& narrow_at, const LayerOffsets& at) {
      std::copy_n(from + narrow_at.weights, work.layers[l].weight_count(),
                  static_cast<double*>(network.parameters()) + at.weights);
    };
    copy(narrow.offsets()[l], network.offsets()[l]);
  }
  return network;
}

TrainingSteps StepsOver(const Data& data, const Work& work, LossSums* sums) {
  TrainingSteps steps;
  steps.x = data.x.view();
  steps.targets = data.y.view();
  steps.sample_weights = work.weighted ? data.weights.data() : nullptr;
  steps.order = work.shuffled ? data.order.data() : nullptr;
  steps.end = kRows;
  steps.batch = work.batch;
  steps.rule = work.rule;
  steps.sums = sums;
  return steps;
}

ExecutorOptions PlanOf(const Work& work) {
  ExecutorOptions plan;
  plan.max_batch = work.batch + 3;  // as with validation: Evaluate() may take more than a step
  plan.step_batch = work.batch;
  plan.training = true;
  plan.loss = work.loss;
  plan.state_count = work.rule.StateCount();
  return plan;
}

struct Outcome {
  std::vector<double> values;  // parameters, then state, without the gaps between arrays
  LossSums sums;
  bool whole = false;
  std::string described;  // how the steps were computed
};

// The arrays of `steps` in the memory of a backend.
class Resident {
 public:
  explicit Resident(const Backend& backend) : backend_(backend) {}

  void Take(TrainingSteps& steps) {
    Take(steps.x);
    Take(steps.targets);
    steps.sample_weights = Copy(steps.sample_weights, kRows * DTypeSize_bytes(steps.x.dtype));
    steps.order = static_cast<const int64_t*>(Copy(steps.order, kRows * static_cast<int64_t>(sizeof(int64_t))));
    steps.sums = static_cast<LossSums*>(Copy(steps.sums, sizeof(LossSums)));
  }

 private:
  void* Copy(const void* from, int64_t size_bytes) {
    if (from == nullptr) {
      return nullptr;
    }
    buffers_.push_back(backend_.Allocate(size_bytes));
    backend_.Upload(buffers_.back()->data(), from, size_bytes);
    return buffers_.back()->data();
  }
  void Take(ConstMatrixView& view) {
    view.data = Copy(view.data, view.rows * view.stride * DTypeSize_bytes(view.dtype));
    view.space = backend_.space();
  }

  const Backend& backend_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

// Two epochs, each one call.
Outcome Run(const Work& work, const Backend& backend, DType dtype) {
  Network network = StartOf(work, dtype);
  Executor executor(network, backend, PlanOf(work));
  const Data data(work, dtype);
  Outcome outcome;
  outcome.whole = executor.whole_steps().ok;
  outcome.described = executor.Describe().back();
  Resident resident(backend);
  TrainingSteps steps = StepsOver(data, work, &outcome.sums);
  resident.Take(steps);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(executor.Steps(steps), steps.count());
    steps.rule.step += steps.count();
    steps.rule.learning_rate *= 0.9;
  }
  backend.Download(&outcome.sums, steps.sums, sizeof(outcome.sums));
  DispatchFloat(dtype, [&]<class T>(T) {
    const auto append = [&](const Buffer& buffer) {
      std::vector<T> host(static_cast<size_t>(buffer.size_bytes()) / sizeof(T));
      backend.Download(host.data(), buffer.data(), buffer.size_bytes());
      const T* all = host.data();
      for (size_t l = 0; l < work.layers.size(); ++l) {
        const LayerOffsets& at = network.offsets()[l];
        outcome.values.insert(outcome.values.end(), all + at.weights, all + at.weights + work.layers[l].weight_count());
        const int64_t biases = work.layers[l].bias ? work.layers[l].outputs : 0;
        outcome.values.insert(outcome.values.end(), all + at.bias, all + at.bias + biases);
      }
    };
    append(executor.parameters());
    for (int i = 0; i < executor.state_count(); ++i) {
      append(executor.state(i));
    }
  });
  return outcome;
}

void ExpectSame(const Outcome& got, const Outcome& expected, double bound) {
  ASSERT_EQ(got.values.size(), expected.values.size());
  for (size_t i = 0; i < expected.values.size(); ++i) {
    ASSERT_NEAR(got.values[i], expected.values[i], bound * (1 + std::abs(expected.values[i]))) << "number " << i;
  }
  EXPECT_NEAR(got.sums.loss, expected.sums.loss, bound * kRows * (1 + expected.sums.loss));
  EXPECT_NEAR(got.sums.weight, expected.sums.weight, bound * kRows * expected.sums.weight);
  EXPECT_EQ(got.sums.samples, expected.sums.samples);
  EXPECT_NEAR(static_cast<double>(got.sums.correct), static_cast<double>(expected.sums.correct), 1);
}

void Check(const Work& work, const std::string& what) {
  SCOPED_TRACE(fmt::format("{}, batch {}", what, work.batch));
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  const Outcome expected = Run(work, *serial, DType::kF64);
  EXPECT_FALSE(expected.whole);
  for (const std::string& target : CpuTargets()) {
    SCOPED_TRACE(target);
    const conformance::Chosen cpu({"cpu", "auto", target, 2});
    const Outcome wide = Run(work, cpu.get(), DType::kF64);
    ASSERT_NE(wide.described.find(target), std::string::npos) << wide.described;
    ExpectSame(wide, expected, 1e-12);
    const Outcome narrow = Run(work, cpu.get(), DType::kF32);
    ASSERT_NE(narrow.described.find(target), std::string::npos) << narrow.described;
    ExpectSame(narrow, expected, 1e-4);
  }
}

std::vector<LayerSpec> Layers(const std::vector<int64_t>& shape, Synapse first, const Activation& hidden,
                              const Activation& output, bool bias = true) {
  std::vector<LayerSpec> layers;
  for (size_t l = 0; l + 1 < shape.size(); ++l) {
    const bool last = l + 2 == shape.size();
    layers.push_back({shape[l], shape[l + 1], last ? Synapse::kDot : first, last ? output : hidden,
                      IsDistance(first) ? last : bias});
  }
  return layers;
}

UpdateRule Sgd() { return {.kind = UpdateKind::kSgd, .learning_rate = 0.05, .momentum = 0.5, .weight_decay = 1e-3}; }

TEST(SmallNetwork, EveryShapeAndBatch) {
  // Turned and plain weights, ragged and whole vectors, one neuron, tiles of every height.
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{8, 4, 2, 1}, {1, 1}, {3, 40, 5}, {40, 3, 17, 2}, {70, 2}, {16, 16, 16}}) {
    for (const int64_t batch : {1, 2, 7, 23, 32}) {
      Check({Layers(shape, Synapse::kDot, "bipolar_sigmoid", "bipolar_sigmoid"), Loss::kMse, Sgd(), batch},
            fmt::format("{}", fmt::join(shape, "-")));
    }
  }
}

TEST(SmallNetwork, EveryActivation) {
  for (const std::string& name : ActivationNames()) {
    for (const int64_t batch : {1, 5}) {
      if (name != "softmax") {
        Check({Layers({6, 9, 3}, Synapse::kDot, Activation(name), Activation(name)), Loss::kMse, Sgd(), batch}, name);
      } else {
        Check({Layers({6, 9, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kMse, Sgd(), batch}, name);
      }
    }
  }
}

TEST(SmallNetwork, AnActivationOfOnesOwn) {
  for (const int64_t batch : {1, 5}) {
    const Activation own = Activation::Custom(Swish{});
    Check({Layers({6, 9, 3}, Synapse::kDot, own, own), Loss::kMse, Sgd(), batch}, "swish");
  }
}

TEST(SmallNetwork, EveryLossWithSampleWeights) {
  for (const bool weighted : {false, true}) {
    for (const int64_t batch : {1, 4}) {
      Check({Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), batch, weighted},
            "cross_entropy");
      Check({Layers({5, 8, 1}, Synapse::kDot, "tanh", "sigmoid"), Loss::kBinaryCrossEntropy, Sgd(), batch, weighted},
            "binary_cross_entropy");
      Check({Layers({5, 8, 2}, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), batch, weighted, false}, "mse");
    }
  }
}

TEST(SmallNetwork, EveryRuleWithAndWithoutBias) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const bool bias : {true, false}) {
      for (const int64_t batch : {1, 6}) {
        Check({Layers({5, 21, 3}, Synapse::kDot, "tanh", "tanh", bias), Loss::kMse, rule, batch},
              fmt::format("{}, bias {}", ReferenceRuleName(rule), bias));
      }
    }
  }
}

TEST(SmallNetwork, EverySynapse) {
  for (const std::string& name : SynapseNames()) {
    const Synapse synapse = ParseSynapse(name);
    for (const int64_t batch : {1, 3, 8}) {
      Check({Layers({6, 20, 2}, synapse, "gaussian(radius=3)", "identity"), Loss::kMse, Sgd(), batch}, name);
      Check({Layers({20, 6, 7, 2}, synapse, "gaussian(radius=3)", "identity"), Loss::kMse, Sgd(), batch}, name);
    }
  }
}

TEST(SmallNetwork, SaysWhyNot) {
  const auto verdict = [](const Work& work, const BackendOptions& options = {}) {
    const std::unique_ptr<Backend> cpu = MakeBackend("cpu", options);
    const Executor executor(StartOf(work, DType::kF32), *cpu, PlanOf(work));
    return executor.whole_steps();
  };
  const Work small{Layers({8, 4, 1}, Synapse::kDot, "tanh", "identity")};
  EXPECT_TRUE(verdict(small));
  EXPECT_NE(verdict(small, {.kernel = "own"}).reason.find("layer by layer"), std::string::npos);
  Work wide{Layers({784, 1024, 10}, Synapse::kDot, "tanh", "identity")};
  EXPECT_NE(verdict(wide).reason.find("KiB"), std::string::npos) << verdict(wide).reason;
  Work large_batch = small;
  large_batch.batch = 2000;
  EXPECT_NE(verdict(large_batch).reason.find("2000 samples"), std::string::npos);
  Work radii = small;
  radii.layers = ParseLayers("rbf(radius=2)-radius:4,dot-identity:1", 8, true);
  EXPECT_NE(verdict(radii).reason.find("radii"), std::string::npos);
}

// Backend cuda, or its emulation: 1-sample steps fill a graph of many and some single ones, 7-sample ones end short.
void CheckRecorded(const Work& work, const std::string& what) {
  SCOPED_TRACE(what);
  const Outcome expected = Run(work, *MakeBackend("serial"), DType::kF64);
  const conformance::Chosen cuda({std::string(conformance::CudaUnderTest())});
  ExpectSame(Run(work, cuda.get(), DType::kF64), expected, 1e-11);
  ExpectSame(Run(work, cuda.get(), DType::kF32), expected, 1e-4);
}

TEST(RecordedSteps, EveryRule) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const int64_t batch : {1, 7}) {
      CheckRecorded({Layers({5, 21, 3}, Synapse::kDot, "tanh", "tanh"), Loss::kMse, rule, batch},
                    ReferenceRuleName(rule));
    }
  }
}

TEST(RecordedSteps, SampleWeightsAndNoShuffling) {
  for (const bool shuffled : {true, false}) {
    CheckRecorded({Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), 4, true, shuffled},
                  fmt::format("shuffled {}", shuffled));
  }
}

TEST(RecordedSteps, Distances) {
  for (const char* layers : {"l1-triangle(radius=9):12,dot-identity:2", "l2-gaussian(radius=3):12,dot-identity:2",
                             "rbf(radius=9)-radius:6,dot-identity:2"}) {
    CheckRecorded({ParseLayers(layers, 6, true), Loss::kMse, Sgd(), 5}, layers);
  }
}

// What Steps() promises whoever computes it.
class Steps : public testing::Test {
 protected:
  Work work_{Layers({5, 19, 3}, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), 4};
};

std::string BytesOf(const Buffer& buffer) {
  return {static_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size_bytes())};
}

TEST_F(Steps, TheSameBitsHoweverCutIntoCalls) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
    SCOPED_TRACE(backend->name());
    const Data data(work_, DType::kF32);
    const Network start = StartOf(work_, DType::kF32);
    Executor whole(start, *backend, PlanOf(work_));
    Executor cut(start, *backend, PlanOf(work_));
    LossSums whole_sums, cut_sums;
    TrainingSteps steps = StepsOver(data, work_, &whole_sums);
    EXPECT_EQ(whole.Steps(steps), 6);
    steps.sums = &cut_sums;
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 8}, {8, 8}, {8, 12}, {12, kRows}}) {
      steps.begin = begin;
      steps.end = end;
      steps.rule.step = 1 + begin / 4;
      EXPECT_EQ(cut.Steps(steps), steps.count());
    }
    EXPECT_EQ(BytesOf(cut.parameters()), BytesOf(whole.parameters()));
    EXPECT_EQ(BytesOf(cut.state(0)), BytesOf(whole.state(0)));
    EXPECT_EQ(cut_sums.loss, whole_sums.loss);
    EXPECT_EQ(cut_sums.samples, kRows);
  }
}

TEST_F(Steps, StopWhereAskedTo) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
    SCOPED_TRACE(backend->name());
    const Data data(work_, DType::kF32);
    Executor executor(StartOf(work_, DType::kF32), *backend, PlanOf(work_));
    LossSums sums;
    TrainingSteps steps = StepsOver(data, work_, &sums);
    int asked = 0;
    const std::function<bool()> stop = [&] { return ++asked == 3; };
    steps.stop_requested = &stop;
    EXPECT_EQ(executor.Steps(steps), 3);
    EXPECT_EQ(sums.samples, 12);
    asked = 10;
    EXPECT_EQ(executor.Steps(steps), 6);
    EXPECT_EQ(asked, 15) << "not after the last step";
  }
}

TEST_F(Steps, EndAtTheFirstLossThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
      SCOPED_TRACE(backend->name());
      Data data(work_, DType::kF32);
      data.x.Row<float>(data.order[9])[2] = bad;  // the third step
      data.y.Row<float>(data.order[9])[0] = bad;
      Executor executor(StartOf(work_, DType::kF32), *backend, PlanOf(work_));
      LossSums sums;
      EXPECT_EQ(executor.Steps(StepsOver(data, work_, &sums)), 3);
      EXPECT_FALSE(std::isfinite(sums.loss));
    }
  }
}

}  // namespace
}  // namespace lamina
