// The network, the rule and the plan of a case.
#include "lamina/measure/train_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/run/train_data.h"

namespace lamina {

std::string TrainBenchmarkCase::ShapeText() const { return fmt::format("{}", fmt::join(shape, "-")); }

Network TrainBenchmarkCase::MakeNetwork(DType type) const {
  std::vector<LayerSpec> layers;
  for (size_t l = 0; l + 1 < shape.size(); ++l) {
    const bool last = l + 2 == shape.size();
    layers.push_back({shape[l], shape[l + 1], Synapse::kDot, last && output ? *output : activation, true});
  }
  Network network(layers, type);
  network.Initialize(Initialization::kGlorotUniform, 1);
  return network;
}

std::unique_ptr<Backend> TrainBenchmarkCase::MakeBackend() const {
  const Network network = MakeNetwork(dtype);
  return lamina::MakeBackend(
      BackendForTraining(backend, network.layers(), batch, dtype, Rule(/*learning_rate=*/1).StateCount()),
      {.threads = threads, .kernel = kernel});
}

UpdateRule TrainBenchmarkCase::Rule(double learning_rate) const {
  UpdateRule rule;
  rule.kind = update;
  rule.learning_rate = learning_rate;
  rule.momentum = momentum;
  return rule;
}

ExecutorOptions TrainBenchmarkCase::Plan() const {
  ExecutorOptions plan;
  plan.max_batch = batch;
  plan.training = true;
  plan.state_count = Rule(0).StateCount();
  plan.step = step;
  plan.step.precision = precision;
  return plan;
}

std::shared_ptr<const Matrix> BenchmarkInputs(const std::string& data) {
  TrainSettings settings;
  settings.data = data;
  return std::make_shared<const Matrix>(std::move(EncodeData(ReadRawData(settings), settings).train.features));
}

void CheckInputs(const TrainBenchmarkCase& work) {
  if (work.inputs != nullptr && work.inputs->cols() != work.shape.front()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the data have {} inputs, the network {}", work.inputs->cols(), work.shape.front()),
                {.value = work.ShapeText(), .remedy = fmt::format("Begin the network with {}.", work.inputs->cols())});
  }
}

int64_t WholeSteps(const TrainBenchmarkCase& work, int64_t rows) {
  if (work.batch < 1 || work.batch > rows) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("minibatches of {} samples do not fit the {} rows of the benchmark",
                            WithThousands(work.batch), WithThousands(rows)),
                {.remedy = fmt::format("Take 1 to {}.", WithThousands(rows))});
  }
  return rows / work.batch;
}

double TrainFlopsPerSample(const std::vector<int64_t>& shape) {
  double flops = 0;
  for (size_t l = 0; l + 1 < shape.size(); ++l) {
    flops += (l == 0 ? 4.0 : 6.0) * static_cast<double>(shape[l] * shape[l + 1]);
  }
  return flops;
}

}  // namespace lamina
