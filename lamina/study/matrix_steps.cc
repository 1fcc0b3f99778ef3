// The list of steps.
#include "lamina/study/matrix_steps.h"

#include <nlohmann/json.hpp>

namespace lamina {
namespace {

TrainBenchmarkCase Step(std::vector<int64_t> shape, int64_t batch, const char* hidden, const char* output, Loss loss) {
  TrainBenchmarkCase work{.shape = std::move(shape), .batch = batch, .activation = Activation(hidden)};
  work.output = Activation(output);
  work.update = UpdateKind::kAdam;
  work.step.loss = loss;
  return work;
}

// A step of recipe tabular (settings/recipe.cc) for a table of so many inputs; one output: a number.
MatrixStep OfRecipe(const char* table, int64_t inputs, int64_t outputs) {
  const bool classes = outputs > 1;
  TrainBenchmarkCase work = Step({inputs, 256, 256, 256, outputs}, 128, classes ? "selu" : "mish",
                                 classes ? "softmax" : "identity", classes ? Loss::kCrossEntropy : Loss::kMse);
  work.step.label_smoothing = classes ? 0.1 : 0;
  work.step.front_scale = 6;
  work.step.parametrization = Parametrization::kNtk;
  work.step.bias_rate = 0.1;
  return {std::string("recipe tabular, ") + table, work};
}

}  // namespace

std::vector<MatrixStep> MatrixSteps(bool quick) {
  MatrixStep a{"SimpleChains A", Step({4, 32, 16, 4}, 10000, "tanh", "identity", Loss::kMse), true};
  MatrixStep b{"SimpleChains B", Step({24, 8, 2}, 200, "tanh", "identity", Loss::kMse), true};
  b.work.dtype = DType::kF64;
  if (quick) {
    return {a, b};
  }
  const auto higgs = [](int64_t batch) {
    return MatrixStep{"OpenNN HIGGS", Step({28, 1024, 1024, 1}, batch, "relu", "sigmoid", Loss::kBinaryCrossEntropy),
                      true};
  };
  return {a,
          b,
          higgs(1024),
          higgs(7000),
          OfRecipe("digits", 64, 10),
          OfRecipe("wine", 13, 3),
          OfRecipe("California housing", 8, 1)};
}

std::string PeerStep(const TrainBenchmarkCase& work) {
  return nlohmann::json{{"step",
                         {{"net", work.shape},
                          {"batch", work.batch},
                          {"dtype", DTypeName(work.dtype)},
                          {"hidden", work.activation.Text()},
                          {"output", work.output->Text()},
                          {"loss", work.step.loss.Text()}}}}
      .dump();
}

}  // namespace lamina
