// From rows to a machine, from a machine to layers.
#include "lamina/rbf/kernel_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/stop.h"
#include "lamina/base/text.h"
#include "lamina/model/calibrate.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/nystroem.h"
#include "lamina/rbf/prune_centres.h"

namespace lamina {
namespace {

constexpr double kOperations = 3e10;  // of machines that are tried with all rows, where one takes less
constexpr int64_t kMostMachines = 12;
constexpr int64_t kMachinesOfARound = 6;  // with fewer, the column weights stay
constexpr int64_t kMachinesOfASearch = 100;
constexpr double kOperationsPerSecond = 1.5e10;  // of one thread, carefully
constexpr double kSecondsWorthSaying = 10;
constexpr int64_t kBytesWorthSaying = 1'000'000'000;

// What a machine costs that leaves rows out.
double OperationsOf(int64_t rows) { return 2.0 / 3 * std::pow(static_cast<double>(rows), 3); }

// Neurons for so many rows: all of them where that can be.
int64_t CentresOf(int64_t rows, int64_t columns, int64_t outputs) {
  const int64_t bytes = KernelMachineBytes(rows, columns, outputs, /*left_out=*/false);
  const int64_t usable = rows > KernelNetworkOptions::kSearchRows ? QueryHardware().UsableMemory_bytes() : 0;
  const bool fits = usable == 0 || bytes <= usable;  // 0: unknown, or of no weight
  return rows <= KernelNetworkOptions::kMostRows && fits ? rows : CentresFor(rows);
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
  std::vector<int64_t> groups;  // given, or of equal rows
  std::vector<double> times;
};

PreparedRows Prepared(const Dataset& rows) {
  PreparedRows prepared{
      InDoubles(rows.features.view()), InDoubles(rows.targets.view()), rows.sample_weights, {}, {}, rows.times};
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
  prepared.groups = !rows.groups.empty() ? rows.groups
                    : rows.times.empty() ? GroupsOfEqualRows(prepared.x.view())
                                         : std::vector<int64_t>();
  return prepared;
}

KernelMachine Fitted(const PreparedRows& rows, KernelMachineOptions options) {
  options.sample_weights = rows.weights;
  options.groups = rows.groups;
  options.times = rows.times;
  return FitKernelMachine(rows.x.view(), rows.y.view(), options);
}

// Answers of rows left out, as logits before a temperature, and the classes.
void FitProbabilities(const PreparedRows& rows, KernelNetwork& result) {
  const int64_t count = rows.x.rows();
  Matrix logits(count, rows.y.cols(), DType::kF64);
  std::vector<int32_t> labels;
  int64_t correct = 0;
  int64_t asked = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double* const wanted = rows.y.Row<double>(i);
    double* const logit = logits.Row<double>(i);
    const auto own = [&](int64_t c) { return wanted[c] + rows.means[static_cast<size_t>(c)]; };
    if (std::isnan(result.machine.left_out.Row<double>(i)[0])) {
      labels.push_back(-1);  // not asked about
      continue;
    }
    int64_t label = 0;
    for (int64_t c = 0; c < logits.cols(); ++c) {
      logit[c] = own(c) - result.machine.left_out.Row<double>(i)[c];
      label = own(c) > own(label) ? c : label;
    }
    labels.push_back(static_cast<int32_t>(label));
    correct += std::max_element(logit, logit + logits.cols()) - logit == label ? 1 : 0;
    ++asked;
  }
  result.left_out_correct = static_cast<double>(correct) / static_cast<double>(asked);
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
    const int64_t columns = rows.x.cols();
    const std::span<const double> weights = machine.feature_weights;
    const bool matrix = std::ssize(weights) != columns;
    for (int64_t j = 0; scaled && j < columns; ++j) {
      network.Weights(0).Row<T>(j)[j] = static_cast<T>(weights[static_cast<size_t>(j)]);
      for (int64_t k = 0; matrix && k < columns; ++k) {
        network.Weights(0).Row<T>(j)[k] = static_cast<T>(weights[static_cast<size_t>(k * columns + j)]);
      }
    }
    std::vector<double> centre(static_cast<size_t>(columns));
    for (int64_t i = 0; i < rows.x.rows(); ++i) {
      WeighRow(rows.x.Row<double>(i), weights, columns, centre.data());
      for (int64_t j = 0; j < columns; ++j) {
        // As the first layer will scale a row that is asked about.
        network.Weights(last - 1).Row<T>(i)[j] =
            matrix ? static_cast<T>(centre[static_cast<size_t>(j)])
                   : static_cast<T>(weights[static_cast<size_t>(j)]) * static_cast<T>(rows.x.Row<double>(i)[j]);
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

int64_t Different(std::vector<int64_t> groups) {
  std::sort(groups.begin(), groups.end());
  return std::unique(groups.begin(), groups.end()) - groups.begin();
}

// Those that have answers of rows left out.
int64_t AskedRows(const Matrix& left_out) {
  int64_t asked = 0;
  for (int64_t i = 0; i < left_out.rows(); ++i) {
    asked += std::isnan(left_out.Row<double>(i)[0]) ? 0 : 1;
  }
  return asked;
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

Dataset InTime(const Dataset& train) {
  std::vector<int64_t> order(train.times.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto time = [&](int64_t row) { return train.times[static_cast<size_t>(row)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return time(a) < time(b); });
  return ChosenRows(train, order);
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

// What rows left out say beside their errors.
void LookAtLeftOut(const PreparedRows& rows, const KernelNetworkOptions& options, KernelNetwork& result) {
  if (options.classes && result.machine.complete) {
    FitProbabilities(rows, result);
  }
  result.asked_rows = rows.times.empty() ? 0 : AskedRows(result.machine.left_out);
}

// From what some rows have chosen to a machine of all, `rows`.
void RefineWithAll(const KernelNetworkOptions& options, KernelMachineOptions machine_options, const PreparedRows& rows,
                   KernelNetwork& result) {
  machine_options.progress = [&](int64_t tried) {
    if (options.progress) {
      options.progress(result.tried + tried);
    }
  };
  if (result.centres < rows.x.rows()) {
    machine_options.sample_weights = rows.weights;
    result.machine = SolveByCentres(rows.x.view(), rows.y.view(), EvenPlaces(rows.x.rows(), result.centres),
                                    result.machine, machine_options);
  } else {
    result.machine = FittedToAll(rows, result.machine, machine_options);
  }
  result.tried += result.machine.tried;
  if (!result.machine.left_out.empty()) {
    LookAtLeftOut(rows, options, result);
  }
}

}  // namespace

namespace {

// With fewer neurons, where that may be and is enough: their rows to `centres`.
void Prune(const PreparedRows& rows, const KernelNetworkOptions& options, KernelMachineOptions machine_options,
           std::vector<int64_t>& centres, KernelNetwork& result) {
  machine_options.sample_weights = rows.weights;
  machine_options.groups = rows.groups;
  machine_options.times = rows.times;
  PrunedCentres pruned;
  const auto prune = [&] {
    pruned =
        PruneCentres(rows.x.view(), rows.y.view(), std::ssize(centres), result.machine, machine_options, options.prune);
  };
  if (!options.stop_requested) {
    prune();
  } else if (StopsAt(options.stop_requested, prune)) {
    result.machine.complete = false;
    return;
  }
  if (!pruned.kept.empty()) {
    result.unpruned = std::ssize(centres);
    result.growth = pruned.growth;
    centres = pruned.kept;
    result.machine = SolveByCentres(rows.x.view(), rows.y.view(), centres, result.machine, machine_options);
  }
}

}  // namespace

KernelNetwork FitKernelNetwork(const Dataset& train, const KernelNetworkOptions& options) {
  const bool all_weigh =
      std::all_of(train.sample_weights.begin(), train.sample_weights.end(), [](double weight) { return weight > 0; });
  if (!all_weigh) {
    return FitKernelNetwork(WithWeight(train), options);
  }
  if (!std::is_sorted(train.times.begin(), train.times.end())) {
    return FitKernelNetwork(InTime(train), options);
  }
  KernelMachineOptions machine_options;
  machine_options.choices = options.choices;
  machine_options.threads = options.threads;
  machine_options.seconds = options.seconds;
  machine_options.stop_requested = options.stop_requested;
  machine_options.progress = options.progress;
  KernelNetwork result;
  result.groups = Different(train.groups);
  if (result.groups == 1) {
    throw Error(ErrorCode::kInvalidArgument, "all rows are of one group, and no other can answer them",
                {.remedy = "Use another column, or none."});
  }
  result.search_rows = std::min(train.size(), SearchRows(options));
  PreparedRows rows = Prepared(EvenRows(train, result.search_rows));
  result.machine = Fitted(rows, machine_options);
  result.tried = result.machine.tried;
  LookAtLeftOut(rows, options, result);
  result.centres = rows.x.rows();
  if (result.machine.complete && train.size() > result.search_rows) {
    rows = Prepared(train);
    result.centres =
        options.centres > 0 ? options.centres : CentresOf(train.size(), train.inputs(), train.targets.cols());
    RefineWithAll(options, machine_options, rows, result);
  }
  std::vector<int64_t> centres = EvenPlaces(rows.x.rows(), std::min(result.centres, rows.x.rows()));
  if (result.machine.complete && options.prune > 0) {
    Prune(rows, options, machine_options, centres, result);
  }
  if (!result.machine.complete) {
    return result;
  }
  result.centres = std::ssize(centres);
  if (result.centres < rows.x.rows()) {
    rows.x = ChosenRows(rows.x.view(), centres);
  }
  result.equal_rows = train.groups.empty() ? EqualRows(rows.groups) : 0;
  result.network = NetworkOf(result, rows, train.dtype(), options.classes);
  return result;
}

std::string KernelCostNote(int64_t rows, int64_t columns, int64_t outputs, double prune) {
  const int64_t centres = CentresOf(rows, columns, outputs);
  const bool all = centres == rows;
  const int64_t bytes = all ? KernelMachineBytes(rows, columns, outputs, /*left_out=*/false)
                            : CentresBytes(rows, columns, outputs, centres);
  const auto n = static_cast<double>(rows);
  const auto m = static_cast<double>(centres);
  const double machine = all ? OperationsOf(rows) / 2 : 2 * n * m * m;
  const double operations = machine + (prune > 0 ? PruningOperations(rows, machine) : 0);
  const double seconds = operations / kOperationsPerSecond;
  if (all && bytes < kBytesWorthSaying && seconds < kSecondsWorthSaying) {
    return "";
  }
  return fmt::format(
      "a kernel machine of {}{} takes {} of memory and up to {} of one thread", Counted(rows, "training row{s}"),
      all ? "" : fmt::format(", {} of them neurons,", WithThousands(centres)), BytesText(bytes), DurationText(seconds));
}

}  // namespace lamina
