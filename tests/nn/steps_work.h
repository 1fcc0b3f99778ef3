// Some training steps as a value, and what comes of them on a backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lamina/backend/training_steps.h"
#include "lamina/base/half.h"
#include "lamina/nn/executor.h"
#include "tests/nn/small_data.h"

namespace lamina::steps_work {

inline constexpr int64_t kRows = 23;

struct Work {
  std::vector<LayerSpec> layers;
  Loss loss = Loss::kMse;
  UpdateRule rule;
  int64_t batch = 1;
  bool weighted = false;
  bool shuffled = true;
  double label_smoothing = 0;
  double clip_norm = 0;
  int64_t rows = kRows;
  Precision precision = Precision::kExact;
  bool rounded_rows = false;  // to bf16
};

// The same numbers in any type: rows, targets that suit the loss, weights, an order.
struct Data {
  Data(const Work& work, DType dtype)
      : x(RandomMatrix(work.rows, work.layers.front().inputs, DType::kF32, 1)),
        y(RandomMatrix(work.rows, work.layers.back().outputs, DType::kF32, 2, 0, 1)),
        weights(RandomMatrix(work.rows, 1, DType::kF32, 3, 0.5, 2)),
        order(static_cast<size_t>(work.rows)) {
    if (work.rounded_rows) {
      for (int64_t i = 0; i < work.rows; ++i) {
        for (float& value : std::span(x.Row<float>(i), static_cast<size_t>(x.cols()))) {
          value = static_cast<float>(BFloat16(value));
        }
      }
    }
    if (work.loss == Loss::kCrossEntropy) {
      for (int64_t i = 0; i < work.rows; ++i) {
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
inline Network StartOf(const Work& work, DType dtype) {
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

inline TrainingSteps StepsOver(const Data& data, const Work& work, LossSums* sums) {
  TrainingSteps steps;
  steps.x = data.x.view();
  steps.targets = data.y.view();
  steps.sample_weights = work.weighted ? data.weights.data() : nullptr;
  steps.order = work.shuffled ? data.order.data() : nullptr;
  steps.end = work.rows;
  steps.batch = work.batch;
  steps.rule = work.rule;
  steps.sums = sums;
  return steps;
}

inline ExecutorOptions PlanOf(const Work& work) {
  ExecutorOptions plan;
  plan.max_batch = work.batch + 3;  // as with validation: Evaluate() may take more than a step
  plan.step_batch = work.batch;
  plan.training = true;
  plan.step.loss = work.loss;
  plan.state_count = work.rule.StateCount();
  plan.step.label_smoothing = work.label_smoothing;
  plan.step.clip_norm = work.clip_norm;
  plan.step.precision = work.precision;
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
    steps.sample_weights = Copy(steps.sample_weights, steps.x.rows * DTypeSize_bytes(steps.x.dtype));
    steps.order = static_cast<const int64_t*>(Copy(steps.order, steps.x.rows * static_cast<int64_t>(sizeof(int64_t))));
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
inline Outcome Run(const Work& work, const Backend& backend, DType dtype) {
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

inline void ExpectSame(const Outcome& got, const Outcome& expected, double bound) {
  ASSERT_EQ(got.values.size(), expected.values.size());
  for (size_t i = 0; i < expected.values.size(); ++i) {
    ASSERT_NEAR(got.values[i], expected.values[i], bound * (1 + std::abs(expected.values[i]))) << "number " << i;
  }
  EXPECT_NEAR(got.sums.loss, expected.sums.loss,
              bound * static_cast<double>(expected.sums.samples) * (1 + expected.sums.loss));
  EXPECT_NEAR(got.sums.weight, expected.sums.weight,
              bound * static_cast<double>(expected.sums.samples) * expected.sums.weight);
  EXPECT_EQ(got.sums.samples, expected.sums.samples);
  EXPECT_NEAR(static_cast<double>(got.sums.correct), static_cast<double>(expected.sums.correct), 1);
}

inline std::vector<LayerSpec> Layers(const std::vector<int64_t>& shape, Synapse first, const Activation& hidden,
                                     const Activation& output, bool bias = true) {
  std::vector<LayerSpec> layers;
  for (size_t l = 0; l + 1 < shape.size(); ++l) {
    const bool last = l + 2 == shape.size();
    layers.push_back({shape[l], shape[l + 1], last ? Synapse::kDot : first, last ? output : hidden,
                      IsDistance(first) ? last : bias});
  }
  return layers;
}

inline UpdateRule Sgd() {
  return {.kind = UpdateKind::kSgd, .learning_rate = 0.05, .momentum = 0.5, .weight_decay = 1e-3};
}

}  // namespace lamina::steps_work
