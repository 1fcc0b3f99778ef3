// From rows to a machine, from a machine to layers.
#include "lamina/rbf/kernel_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/model/calibrate.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/even_rows.h"

namespace lamina {
namespace {

constexpr double kOperations = 3e10;  // of machines that are tried with all rows, where one takes less
constexpr int64_t kMostMachines = 12;
constexpr int64_t kMachinesOfARound = 6;  // with fewer, the column weights stay
constexpr int64_t kMachinesOfASearch = 100;
constexpr double kGib = 1073741824.0;
constexpr double kOperationsPerSecond = 1.5e10;  // of one thread, carefully; for what is said in a refusal

// What a machine costs that leaves rows out.
double OperationsOf(int64_t rows) { return 2.0 / 3 * std::pow(static_cast<double>(rows), 3); }

void RefuseTooMany(int64_t rows, int64_t columns, int64_t outputs) {
  const int64_t bytes = KernelMachineBytes(rows, columns, outputs, /*left_out=*/false);
  const int64_t usable = rows > KernelNetworkOptions::kSearchRows ? QueryHardware().UsableMemory_bytes() : 0;
  const bool fits = usable == 0 || bytes <= usable;  // 0: unknown, or of no weight
  if (rows <= KernelNetworkOptions::kMostRows && fits) {
    return;
  }
  const double hours = OperationsOf(rows) / 2 / kOperationsPerSecond / 3600;
  const auto fitting = static_cast<int64_t>(0.9 * std::sqrt(static_cast<double>(usable) / sizeof(double)));
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a kernel machine of {} rows takes {:.1f} GiB and some {:.1g} hours of one thread", rows,
                          static_cast<double>(bytes) / kGib, hours),
              {.remedy = fmt::format(
                   "Use at most {} of the rows, or another method.",
                   fits ? KernelNetworkOptions::kMostRows : std::min(KernelNetworkOptions::kMostRows, fitting))});
}

Matrix InDoubles(ConstMatrixView rows) {
  Matrix numbers(rows.rows, rows.cols, DType::kF64);
  ConvertMatrix(rows, numbers.view());
  return numbers;
}

struct PreparedRows {
  Matrix x;
  Matrix y;                     // centred
  std::vector<double> weights;  // or empty
  std::vector<double> means;    // of the targets
  std::vector<int64_t> groups;
};

PreparedRows Prepared(const Dataset& rows) {
  PreparedRows prepared{InDoubles(rows.features.view()), InDoubles(rows.targets.view()), rows.sample_weights, {}, {}};
  const int64_t count = rows.size();
  const auto weight_of = [&](int64_t i) {
    return prepared.weights.empty() ? 1.0 : prepared.weights[static_cast<size_t>(i)];
  };
  double weights = 0;
  for (int64_t i = 0; i < count; ++i) {
    weights += weight_of(i);
  }
  prepared.means.resize(static_cast<size_t>(prepared.y.cols()));
  for (size_t c = 0; c < prepared.means.size(); ++c) {
    double total = 0;
    for (int64_t i = 0; i < count; ++i) {
      total += prepared.y.Row<double>(i)[c] * weight_of(i);
    }
    prepared.means[c] = total / weights;
    for (int64_t i = 0; i < count; ++i) {
      prepared.y.Row<double>(i)[c] -= prepared.means[c];
    }
  }
  prepared.groups = GroupsOfEqualRows(prepared.x.view());
  return prepared;
}

KernelMachine Fitted(const PreparedRows& rows, KernelMachineOptions options) {
  options.sample_weights = rows.weights;
  options.groups = rows.groups;
  return FitKernelMachine(rows.x.view(), rows.y.view(), options);
}

// Answers of rows left out, as logits before a temperature, and the classes.
void FitProbabilities(const PreparedRows& rows, KernelNetwork& result) {
  const int64_t count = rows.x.rows();
  Matrix logits(count, rows.y.cols(), DType::kF64);
  std::vector<int32_t> labels;
  int64_t correct = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double* const wanted = rows.y.Row<double>(i);
    double* const logit = logits.Row<double>(i);
    const auto own = [&](int64_t c) { return wanted[c] + rows.means[static_cast<size_t>(c)]; };
    int64_t label = 0;
    for (int64_t c = 0; c < logits.cols(); ++c) {
      logit[c] = own(c) - result.machine.left_out.Row<double>(i)[c];
      label = own(c) > own(label) ? c : label;
    }
    labels.push_back(static_cast<int32_t>(label));
    correct += std::max_element(logit, logit + logits.cols()) - logit == label ? 1 : 0;
  }
  result.left_out_correct = static_cast<double>(correct) / static_cast<double>(count);
  result.temperature = FitTemperature(logits, labels, rows.weights);
}

Network NetworkOf(const KernelNetwork& fitted, const PreparedRows& rows, DType dtype, bool classes) {
  const KernelMachine& machine = fitted.machine;
  const bool scaled = std::any_of(machine.feature_weights.begin(), machine.feature_weights.end(),
                                  [](double weight) { return weight != 1; });
  std::vector<LayerSpec> layers = KernelLayers(machine.kind, scaled, rows.x.cols(), rows.y.cols(), classes);
  LayerSpec& centres = layers[layers.size() - 2];
  centres.activation = centres.activation.WithRadius(machine.scale);
  centres.outputs = layers.back().inputs = rows.x.rows();
  Network network(layers, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    const size_t last = layers.size() - 1;
    for (int64_t j = 0; scaled && j < rows.x.cols(); ++j) {
      network.Weights(0).Row<T>(j)[j] = static_cast<T>(machine.feature_weights[static_cast<size_t>(j)]);
    }
    for (int64_t i = 0; i < rows.x.rows(); ++i) {
      for (int64_t j = 0; j < rows.x.cols(); ++j) {
        // As the first layer will scale a row that is asked about.
        const T weight = static_cast<T>(machine.feature_weights[static_cast<size_t>(j)]);
        network.Weights(last - 1).Row<T>(i)[j] = weight * static_cast<T>(rows.x.Row<double>(i)[j]);
      }
      for (int64_t c = 0; c < rows.y.cols(); ++c) {
        network.Weights(last).Row<T>(c)[i] = static_cast<T>(machine.alpha.Row<double>(i)[c] / fitted.temperature);
      }
    }
    for (int64_t c = 0; c < rows.y.cols(); ++c) {
      static_cast<T*>(network.Bias(last))[c] = static_cast<T>(rows.means[static_cast<size_t>(c)] / fitted.temperature);
    }
  });
  return network;
}

int64_t EqualRows(const std::vector<int64_t>& groups) {
  std::unordered_map<int64_t, int64_t> sizes;
  for (const int64_t group : groups) {
    ++sizes[group];
  }
  int64_t equal = 0;
  for (const auto& [group, size] : sizes) {
    equal += size > 1 ? size : 0;
  }
  return equal;
}

Dataset WithWeight(const Dataset& train) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < train.size(); ++i) {
    if (train.sample_weights[static_cast<size_t>(i)] > 0) {
      kept.push_back(i);
    }
  }
  return ChosenRows(train, kept);
}

}  // namespace

std::vector<LayerSpec> KernelLayers(const KernelKind& kind, bool scaled, int64_t inputs, int64_t outputs,
                                    bool classes) {
  const std::string curve = fmt::format("laplace(power={})", kind.power);
  std::vector<LayerSpec> layers;
  if (scaled) {
    layers.push_back({inputs, inputs, Synapse::kDot, Activation(), /*bias=*/false});
  }
  layers.push_back({inputs, 1, kind.p == 1 ? Synapse::kL1 : Synapse::kL2, Activation(curve), /*bias=*/false});
  layers.push_back({1, outputs, Synapse::kDot, Activation(classes ? "softmax" : "identity"), /*bias=*/true});
  return layers;
}

namespace {

// By what is computed, not by the clock: a table has the same model everywhere.
int64_t SearchRows(const KernelNetworkOptions& options) {
  const double cube = options.seconds * kOperationsPerSecond / OperationsOf(1) / kMachinesOfASearch;
  return std::max(KernelNetworkOptions::kSearchRows, static_cast<int64_t>(std::cbrt(cube)));
}

// With all rows: from what some have chosen downhill, as many machines as kOperations are; else that one alone.
KernelMachine FittedToAll(const PreparedRows& rows, const KernelMachine& chosen, KernelMachineOptions options) {
  const int64_t machines = std::min(kMostMachines, static_cast<int64_t>(kOperations / OperationsOf(rows.x.rows())));
  if (machines < 2) {
    options.sample_weights = rows.weights;
    return SolveKernelMachine(rows.x.view(), rows.y.view(), chosen, options);
  }
  options.choices.kinds = {chosen.kind};
  options.choices.rounds = machines >= kMachinesOfARound ? std::min(1, options.choices.rounds) : 0;
  options.choices.all = false;
  options.start_scale = chosen.relative;
  options.start_ridge = chosen.ridge;
  options.feature_weights = chosen.feature_weights;
  options.most_systems = machines;
  options.seconds = 0;
  KernelMachine machine = Fitted(rows, options);
  machine.round += chosen.round;
  machine.errors_of_kinds = chosen.errors_of_kinds;
  return machine;
}

}  // namespace

KernelNetwork FitKernelNetwork(const Dataset& train, const KernelNetworkOptions& options) {
  const bool all_weigh =
      std::all_of(train.sample_weights.begin(), train.sample_weights.end(), [](double weight) { return weight > 0; });
  if (!all_weigh) {
    return FitKernelNetwork(WithWeight(train), options);
  }
  RefuseTooMany(train.size(), train.inputs(), train.targets.cols());
  KernelMachineOptions machine_options;
  machine_options.choices = options.choices;
  machine_options.threads = options.threads;
  machine_options.seconds = options.seconds;
  machine_options.stop_requested = options.stop_requested;
  machine_options.progress = options.progress;
  KernelNetwork result;
  result.search_rows = std::min(train.size(), SearchRows(options));
  PreparedRows rows = Prepared(EvenRows(train, result.search_rows));
  result.machine = Fitted(rows, machine_options);
  result.tried = result.machine.tried;
  const auto left_out = [&] {
    if (options.classes && result.machine.complete) {
      FitProbabilities(rows, result);
    }
  };
  left_out();
  if (result.machine.complete && train.size() > result.search_rows) {
    rows = Prepared(train);
    machine_options.progress = [&](int64_t tried) {
      if (options.progress) {
        options.progress(result.tried + tried);
      }
    };
    result.machine = FittedToAll(rows, result.machine, machine_options);
    result.tried += result.machine.tried;
    if (!result.machine.left_out.empty()) {
      left_out();
    }
  }
  if (!result.machine.complete) {
    return result;
  }
  result.equal_rows = EqualRows(rows.groups);
  result.network = NetworkOf(result, rows, train.dtype(), options.classes);
  return result;
}

}  // namespace lamina
