// Data sets and runs of the trainer in a few lines.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lamina/train/trainer.h"
#include "tests/nn/small_data.h"

namespace lamina {

/// Random inputs in [-1, 1); classes at random as one-hot targets, or with no classes the sum of the inputs.
inline Dataset RandomDataset(int64_t rows, int64_t inputs, int64_t classes, DType dtype, uint64_t seed) {
  Dataset data;
  data.features = RandomMatrix(rows, inputs, dtype, seed);
  data.targets = Matrix(rows, classes > 0 ? classes : 1, dtype);
  Random random(seed + 1);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      const T* x = data.features.Row<T>(i);
      if (classes == 0) {
        data.targets.Row<T>(i)[0] = std::accumulate(x, x + inputs, T(0));
        continue;
      }
      data.labels.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(classes))));
      data.targets.Row<T>(i)[data.labels.back()] = T(1);
    }
  });
  return data;
}

/// inputs-hidden-outputs for the data, initialized.
inline Network NetworkFor(const Dataset& data, int64_t hidden, const Activation& output, uint64_t seed = 1) {
  Network network({{data.features.cols(), hidden, Synapse::kDot, "tanh", true},
                   {hidden, data.targets.cols(), Synapse::kDot, output, true}},
                  data.features.dtype());
  network.Initialize(Initialization::kGlorotUniform, seed);
  return network;
}

struct Trained {
  Network network;
  History history;
};

/// Trains a copy of `start`.
inline Trained Train(const Backend& backend, const TrainOptions& options, const Network& start, const Dataset& train,
                     const Dataset* validation = nullptr, const TrainCallbacks& callbacks = {}) {
  Trained result{start, {}};
  Trainer trainer(result.network, backend, options);
  result.history = trainer.Run(train, validation, callbacks);
  return result;
}

inline std::string WeightBytes(const Network& network) {
  return {static_cast<const char*>(network.parameters()), static_cast<size_t>(network.parameter_bytes())};
}

/// Losses of training and validation in every epoch, with the accuracies of training.
inline std::vector<double> LossesOf(const History& history) {
  std::vector<double> losses;
  for (const EpochRecord& record : history.epochs) {
    losses.insert(losses.end(), {record.train_loss, record.validation_loss, record.train_accuracy});
  }
  return losses;
}

/// Runs until stop_requested was asked `steps` times; the state at that point.
inline TrainState StateAfter(int steps, const Backend& backend, const TrainOptions& options, const Network& start,
                             const Dataset& train, const Dataset* validation = nullptr) {
  TrainState state;
  int asked = 0;
  TrainCallbacks callbacks;
  callbacks.stop_requested = [&] { return ++asked == steps; };
  callbacks.checkpoint = [&](TrainState&& at) { state = std::move(at); };
  Train(backend, options, start, train, validation, callbacks);
  return state;
}

}  // namespace lamina
