// Networks that are found at once.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/rbf/elm.h"
#include "lamina/rbf/fsvc.h"
#include "lamina/rbf/kernel_network.h"
#include "lamina/rbf/mean_distance.h"
#include "lamina/rbf/radius_search.h"
#include "lamina/run/kernel_training.h"
#include "lamina/settings/method.h"
#include "python/src/bindings.h"
#include "python/src/interrupts.h"
#include "python/src/machine.h"
#include "python/src/network_type.h"

namespace lamina::python {
namespace {

// (network, radius, overlap). radius 0: it is searched for, and with overlap 0 that, too.
nb::object FitNovelty(const Dataset& train, const std::vector<std::string>& class_names, const std::string& neuron,
                      double radius, double overlap, bool by_class, double learning_rate, int64_t epochs,
                      const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  FoundFsvc found = Interruptibly([&] {
    const LayerSpec spec = ParseNeuron(neuron);
    FsvcOptions options{{spec.synapse, spec.activation}, by_class, learning_rate, epochs};
    options.novelty.overlap = overlap == 0 ? options.novelty.overlap : overlap;
    if (radius != 0) {
      options.novelty.activation = spec.activation.WithRadius(radius);
    }
    return FitFsvc(train, Dataset{}, class_names, options, radius == 0, overlap == 0, backend);
  });
  return nb::make_tuple(PyNetwork{std::move(found.result.network)}, found.search.radius, found.search.overlap);
}

Network Drawn(const Dataset& train, int64_t outputs, const std::string& neuron, int64_t neurons, bool fit_radius,
              const std::string& weights, uint64_t seed) {
  const ConstMatrixView rows = train.features.view();
  LayerSpec hidden = ParseNeuron(neuron);
  hidden.inputs = rows.cols;
  hidden.outputs = neurons;
  hidden.bias = !IsDistance(hidden.synapse);
  if (fit_radius && IsDistance(hidden.synapse)) {
    hidden.activation = WithRadiusOf(hidden, rows, seed);
  }
  return DrawElm(hidden, outputs, ParseName(weights, kHiddenWeights, "unknown weights"), rows, seed);
}

PyNetwork* DrawNetwork(const Dataset& train, int64_t outputs, const std::string& neuron, int64_t neurons,
                       bool fit_radius, const std::string& weights, uint64_t seed) {
  return new PyNetwork{
      Interruptibly([&] { return Drawn(train, outputs, neuron, neurons, fit_radius, weights, seed); })};
}

// C. c 0: it is chosen.
double SolveElm(PyNetwork& network, const Dataset& train, double c, const std::string& precision,
                const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  return Interruptibly([&] {
    ElmOptions options;
    options.c = c > 0 ? std::optional(c) : std::nullopt;
    options.precision = ParseName(precision, kPrecisions, "unknown precision");
    return *TrainElm(network.network, train, options, backend);
  });
}

nb::object SumsOfElm(const PyNetwork& network, const Dataset& train, const std::string& precision,
                     const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  return NumpyOf(Interruptibly([&] {
    ElmSums sums(network.network, backend, ParseName(precision, kPrecisions, "unknown precision"));
    sums.Add(train.features.view(), train.targets.view(), train.sample_weights);
    Matrix copy(sums.sums().rows, sums.sums().cols, DType::kF64);
    ConvertMatrix(sums.sums(), copy.view());
    return copy;
  }));
}

void SolveSums(PyNetwork& network, const InArray& sums_array, double c, const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  const ConstMatrixView given = ViewOfArray(sums_array, DType::kF64, "sums");
  const int64_t columns = network.network.layers()[0].outputs + network.network.outputs();
  if (given.rows != columns || given.cols != columns) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("sums are {} x {}, {} x {} are needed", given.rows, given.cols, columns, columns));
  }
  Interruptibly([&] {
    ElmSums sums(network.network, backend);
    ConvertMatrix(given, sums.sums());
    sums.Solve(c, network.network);
  });
}

// With whole numbers that are the groups, or the order of the times, of the rows; or None.
Dataset WithLeftOut(const Dataset& train, const nb::object& groups, const nb::object& times) {
  Dataset grouped;
  grouped.features = train.features.Share();
  grouped.targets = train.targets.Share();
  grouped.sparse = train.sparse;
  grouped.sample_weights = train.sample_weights;
  const auto numbers = [&](const nb::object& given, const char* name) {
    std::span<const int64_t> rows;
    if (!given.is_none()) {
      const InArray array = nb::cast<InArray>(given);
      rows = {static_cast<const int64_t*>(VectorOf(array, DType::kI64, train.size(), name)),
              static_cast<size_t>(train.size())};
    }
    return rows;
  };
  const std::span<const int64_t> of_groups = numbers(groups, "groups");
  const std::span<const int64_t> of_times = numbers(times, "times");
  grouped.groups.assign(of_groups.begin(), of_groups.end());
  grouped.times.assign(of_times.begin(), of_times.end());
  return grouped;
}

// (network, what was found).
nb::object FitKernels(const Dataset& train, bool classes, const std::string& neuron, const std::string& feature_weights,
                      int64_t rounds, double ridge, double radius, double seconds, double prune, int threads,
                      const nb::object& groups, const nb::object& times, int64_t most_rows,
                      const std::string& backend_name) {
  TrainSettings settings;
  settings.method = NameOf(Method::kKernelMachine, kMethods);
  settings.neuron = neuron;
  settings.feature_weights = feature_weights;
  settings.feature_rounds = rounds;
  settings.ridge = ridge >= 0 ? std::optional(ridge) : std::nullopt;
  settings.radius = radius > 0 ? std::optional(radius) : std::nullopt;
  KernelNetworkOptions options;
  options.choices = KernelChoicesFrom(settings);
  options.classes = classes;
  settings.threads = ThreadsOf(threads);
  settings.backend = backend_name;
  SolveBy(BackendOf(backend_name, threads), settings, options);
  options.seconds = seconds;
  options.prune = prune;
  options.most_rows = most_rows > 0 ? most_rows : KernelNetworkOptions::kMostRows;
  const Dataset rows = WithLeftOut(train, groups, times);
  KernelNetwork fitted = Interruptibly([&] { return FitKernelNetwork(rows, options); });
  const KernelMachine& machine = fitted.machine;
  nb::dict found;
  found["distance"] = machine.kind.p == 1 ? "l1" : "l2";
  found["power"] = machine.kind.power;
  found["radius"] = machine.scale;
  found["ridge"] = machine.ridge + machine.jitter;
  found["round"] = machine.round;
  found["left_out_error"] = machine.error;
  found["neurons"] = fitted.centres;
  found["growth"] = fitted.growth;
  found["solver"] = fitted.solver.empty() ? "processor" : fitted.solver;
  found["why_processor"] = fitted.why_processor;
  found["feature_weights"] = WeightsAlongColumns(machine.feature_weights, train.inputs());
  std::vector<PyNetwork> others;
  for (Network& other : fitted.others) {
    others.push_back({std::move(other)});
  }
  found["others"] = std::move(others);
  found["gates"] = fitted.gates ? nb::cast(PyNetwork{std::move(*fitted.gates)}) : nb::none();
  return nb::make_tuple(PyNetwork{std::move(fitted.network)}, found);
}

}  // namespace

void BindDirect(nb::module_& module) {
  module.def("fit_fsvc", &FitNovelty, nb::arg("train"), nb::arg("class_names"), nb::arg("neuron"), nb::arg("radius"),
             nb::arg("overlap"), nb::arg("by_class"), nb::arg("learning_rate"), nb::arg("epochs"),
             nb::arg("backend") = "cpu", nb::arg("threads") = 0,
             "A network of the rows that are novel, and its radius (0: searched for).");
  module.def("draw_elm", &DrawNetwork, nb::arg("train"), nb::arg("outputs"), nb::arg("neuron"), nb::arg("neurons"),
             nb::arg("fit_radius"), nb::arg("weights"), nb::arg("seed"),
             "A network with a drawn hidden layer, and no output weights yet.");
  module.def("solve_elm", &SolveElm, nb::arg("network"), nb::arg("train"), nb::arg("c"), nb::arg("precision"),
             nb::arg("backend") = "cpu", nb::arg("threads") = 0,
             "Solves for the output weights; the C of it (0: chosen).");
  module.def("elm_sums", &SumsOfElm, nb::arg("network"), nb::arg("train"), nb::arg("precision"),
             nb::arg("backend") = "cpu", nb::arg("threads") = 0,
             "H'H and T'H below it of the hidden activations H and targets T of all rows; to be added to others.");
  module.def("solve_elm_sums", &SolveSums, nb::arg("network"), nb::arg("sums"), nb::arg("c"),
             nb::arg("backend") = "cpu", nb::arg("threads") = 0, "Solves for the output weights by sums over rows.");
  module.def("fit_kernels", &FitKernels, nb::arg("train"), nb::arg("classes"), nb::arg("neuron"),
             nb::arg("feature_weights"), nb::arg("rounds"), nb::arg("ridge"), nb::arg("radius"), nb::arg("seconds"),
             nb::arg("prune") = 0.0, nb::arg("threads") = 0, nb::arg("groups") = nb::none(),
             nb::arg("times") = nb::none(), nb::arg("most_rows") = 0, nb::arg("backend") = "cpu",
             "A kernel machine as a network, and what was chosen (ridge below 0, radius and seconds 0: open).");
}

}  // namespace lamina::python
