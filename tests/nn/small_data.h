// Backends, matrices, tables and models small enough for exhaustive tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/model.h"
#include "tests/conformance/configurations.h"

namespace lamina {

/// Every backend of this build that computes on host matrices.
inline std::vector<std::unique_ptr<Backend>> HostBackends(int threads) {
  std::vector<std::unique_ptr<Backend>> backends;
  for (const BackendRow& row : BackendTable()) {
    if (row.available() && row.name != "cuda") {
      backends.push_back(row.make({.threads = threads}));
    }
  }
  backends.push_back(MakeBackend("cpu", {.threads = threads, .kernel = "rows"}));
  return backends;
}

/// Those and the GPU, or its emulation, if there is either.
inline std::vector<std::unique_ptr<Backend>> AllBackends(int threads) {
  std::vector<std::unique_ptr<Backend>> backends = HostBackends(threads);
  if (!conformance::CudaUnderTest().empty()) {
    backends.push_back(conformance::Chosen::Make({std::string(conformance::CudaUnderTest())}));
  }
  return backends;
}

inline Matrix RandomMatrix(int64_t rows, int64_t cols, DType dtype, uint64_t seed, double low = -1, double high = 1) {
  Matrix matrix(rows, cols, dtype);
  Random random(seed);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows * cols; ++i) {
      static_cast<T*>(matrix.data())[i] = static_cast<T>(random.Uniform(low, high));
    }
  });
  return matrix;
}

/// The bytes of a network's parameters, for comparing bits.
inline std::string ParameterBytes(const Network& network) {
  return {static_cast<const char*>(network.parameters()), static_cast<size_t>(network.parameter_bytes())};
}

/// A table of number columns.
inline Table NumberTable(const std::vector<std::string>& names, const std::vector<std::vector<double>>& columns) {
  Table table;
  table.source = "table";
  table.rows = static_cast<int64_t>(columns.front().size());
  for (size_t j = 0; j < names.size(); ++j) {
    const auto values = std::make_shared<std::vector<double>>(columns[j]);
    Column column;
    column.name = names[j];
    column.numbers = values->data();
    column.owner = values;
    table.columns.push_back(column);
  }
  return table;
}

/// Random inputs x0.., and the last column "y": a class 0..classes-1, or with no classes a number.
inline Table RandomTable(int64_t rows, int64_t inputs, int64_t classes, uint64_t seed) {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns(static_cast<size_t>(inputs) + 1);
  Random random(seed);
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < inputs; ++j) {
      columns[static_cast<size_t>(j)].push_back(random.Uniform(-1, 1));
      sum += columns[static_cast<size_t>(j)].back();
    }
    columns.back().push_back(classes > 0 ? static_cast<double>(i % classes) : sum);
  }
  for (int64_t j = 0; j < inputs; ++j) {
    names.push_back("x" + std::to_string(j));
  }
  names.emplace_back("y");
  return NumberTable(names, columns);
}

inline std::vector<int64_t> RowsOf(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

/// An initialized network for `table`, one hidden layer of 5 neurons, with its preprocessing.
inline Model SmallModel(const Table& table, DType dtype, const Activation& hidden = "tanh",
                        Task task = Task::kClassification) {
  Model model;
  PreprocessOptions options;
  options.task = task;
  options.target_scaling = Scaling::kAuto;
  model.preprocessor = Preprocessor::Fit(table, RowsOf(table), options);
  const bool classes = task == Task::kClassification;
  model.loss = classes ? Loss::kCrossEntropy : Loss::kMse;
  const int64_t outputs = model.preprocessor.targets().count();
  const Activation output = classes ? "softmax" : "identity";
  model.network = Network({{model.preprocessor.inputs().count(), 5, Synapse::kDot, hidden, true},
                           {5, outputs, Synapse::kDot, output, true}},
                          dtype);
  model.network.Initialize(Initialization::kGlorotUniform, 7);
  model.training = {{"note", "small"}};
  return model;
}

/// `model` as an ensemble with two more networks, of other shapes.
inline Model WithOthers(Model model) {
  const LayerSpec& first = model.network.layers().front();
  const LayerSpec& last = model.network.layers().back();
  for (const int64_t hidden : {3, 9}) {
    Network& other = model.others.emplace_back(
        std::vector<LayerSpec>{{first.inputs, hidden, Synapse::kDot, "relu", true},
                               {hidden, last.outputs, Synapse::kDot, last.activation, last.bias}},
        model.network.dtype());
    other.Initialize(Initialization::kHeUniform, static_cast<uint64_t>(hidden));
  }
  model.shares = {0.5, 0.3, 0.2};
  return model;
}

// The same with shares that go by the row: of many rows some are 0.
inline Model WithGates(Model model) {
  model = WithOthers(std::move(model));
  model.shares.clear();
  model.gates = Network(
      {{model.network.inputs(), 4, Synapse::kDot, "relu", true}, {4, model.networks(), Synapse::kDot, "relu", true}},
      model.network.dtype());
  model.gates->Initialize(Initialization::kHeUniform, 8);
  DispatchFloat(model.gates->dtype(), [&]<class T>(T) {
    static_cast<T*>(model.gates->Bias(1))[0] = T(0.25);
    std::fill_n(model.gates->Weights(1).Row<T>(0), 4, T(0.5));  // the first one always answers
  });
  return model;
}

}  // namespace lamina
