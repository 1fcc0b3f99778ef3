// From rows to a machine, from a machine to layers.
#include "lamina/rbf/kernel_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "lamina/backend/backend.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/base/text.h"
#include "lamina/cluster/communicator.h"
#include "lamina/model/calibrate.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_cost.h"
#include "lamina/rbf/kernel_layers.h"
#include "lamina/rbf/kernel_leaves.h"
#include "lamina/rbf/kernel_solver.h"
#include "lamina/rbf/kernel_systems.h"
#include "lamina/rbf/nystroem.h"
#include "lamina/rbf/prepared_rows.h"
#include "lamina/rbf/prune_centres.h"

namespace lamina {
namespace {

constexpr double kOperations = 8e9;  // of machines that are tried with all rows, where one takes less
constexpr int64_t kMostMachines = 12;
constexpr int64_t kMachinesOfARound = 6;  // with fewer, the column weights stay
constexpr int64_t kMachinesOfASearch = 100;
constexpr double kOperationsOfLeaves = 1.5e12;
constexpr int64_t kFewestOfLeaf = 200;
constexpr double kOverlap = 0.1;                 // LeafOptions::overlap
constexpr double kOperationsPerSecond = 1.5e10;  // of one thread, carefully
constexpr double kSecondsWorthSaying = 10;
constexpr const char* kSomeAreNeurons = "only some of the rows are neurons";
constexpr int64_t kBytesWorthSaying = 1'000'000'000;

// What a machine costs that leaves rows out.
double OperationsOf(int64_t rows) { return 2.0 / 3 * std::pow(static_cast<double>(rows), 3); }

// Neurons for so many rows in one machine: all of them where that can be.
int64_t CentresOf(const TableSize& size, int64_t most) {
  return size.rows <= most && KernelMachinesFit(size, 1) ? size.rows : CentresFor(size.rows);
}

struct LeafPlan {
  int64_t depth = 0;  // of the tree; 0: one machine has all rows
  TableSize leaf;     // with the rows of the largest
  int64_t leaves() const { return int64_t{1} << depth; }
  double operations() const { return static_cast<double>(leaves()) * OperationsOf(leaf.rows) / 2; }
};

// As few leaves as memory and kOperationsOfLeaves allow.
LeafPlan PlanLeaves(const TableSize& size, int64_t most) {
  LeafPlan plan{0, size};
  const auto fits = [&] {
    return plan.leaf.rows <= most && KernelMachinesFit(plan.leaf, 1) &&
           (plan.depth == 0 || plan.operations() <= kOperationsOfLeaves);
  };
  while (!fits() && plan.leaf.rows > kFewestOfLeaf) {
    ++plan.depth;
    plan.leaf.rows = static_cast<int64_t>(std::ceil(static_cast<double>(plan.leaf.rows) * (0.5 + kOverlap / 2)));
  }
  return plan;
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

// The errors of the last `count` rows where each was left out: what is nearest to those of rows left out together.
void LeaveApart(int64_t count, int64_t rows, KernelMachine& machine) {
  if (machine.left_out.rows() != rows || count == 0) {
    return;
  }
  machine.apart = Matrix(count, machine.left_out.cols(), DType::kF64);
  const double* const from = machine.left_out.Row<double>(rows - count);
  std::copy_n(from, count * machine.left_out.cols(), machine.apart.Row<double>(0));
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

KernelMachineOptions MachineOptionsOf(const KernelNetworkOptions& options) {
  KernelMachineOptions machine_options;
  machine_options.choices = options.choices;
  machine_options.threads = options.threads;
  machine_options.backend = options.backend;
  machine_options.least_device_rows = options.least_device_rows;
  machine_options.seconds = options.seconds;
  machine_options.apart = options.apart;
  machine_options.stop_requested = options.stop_requested;
  machine_options.progress = options.progress;
  return machine_options;
}

// Who solves the largest machine of a plan, and whether there is room for it.
KernelPlace PlaceOf(const TableSize& machine, const KernelNetworkOptions& options) {
  KernelPlace place = PlaceOfKernels(MachineOptionsOf(options), machine.rows);
  if (place.device == nullptr) {
    return place;
  }
  const int64_t needed = place.device->KernelsBytes(
      {machine.rows, machine.columns, machine.outputs, KernelSolver::StrideOf(machine.rows), /*inverse=*/true});
  if (const int64_t free = options.backend->FreeMemory_bytes(); free > 0 && needed > free) {
    throw Error(ErrorCode::kResource,
                fmt::format("a kernel machine of {} takes {} of the GPU's memory, and {} are free",
                            Counted(machine.rows, "row{s}"), BytesText(needed), BytesText(free)),
                {.remedy = "Use --backend cpu."});
  }
  return place;
}

void Say(const KernelPlace& place, KernelNetwork& result) {
  result.solver = place.device == nullptr ? "" : place.device->DescribeKernels();
  result.why_processor = place.why;
}

// `result.machine`: of `rows`, `result.centres` of them neurons. To a network, or not complete.
void Finish(const KernelNetworkOptions& options, DType dtype, PreparedRows rows, KernelNetwork& result) {
  std::vector<int64_t> centres = EvenPlaces(rows.x.rows(), std::min(result.centres, rows.x.rows()));
  if (result.machine.complete && options.prune > 0) {
    Prune(rows, options, MachineOptionsOf(options), centres, result);
  }
  if (!result.machine.complete) {
    return;
  }
  result.centres = std::ssize(centres);
  if (result.centres < rows.x.rows()) {
    rows.x = ChosenRows(rows.x.view(), centres);
  }
  result.equal_rows = result.groups == 0 ? CountEqualRows(rows.groups) : 0;
  result.network = NetworkOfMachine(result.machine, rows, dtype, options.classes, result.temperature);
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
  KernelNetwork result;
  result.groups = Different(train.groups);
  if (result.groups == 1) {
    throw Error(ErrorCode::kInvalidArgument, "all rows belong to one group, and no other group can answer them",
                {.remedy = "Use another column, or none."});
  }
  const TableSize size{train.size(), train.inputs(), train.targets.cols()};
  LeafPlan plan = PlanLeaves(size, options.most_rows);
  if (options.ranks != nullptr) {  // whose memory may differ
    options.ranks->Broadcast(&plan, sizeof(plan), 0);
  }
  if (plan.depth > 0 && options.leaves && options.centres == 0) {
    KernelNetworkOptions of_leaf = options;
    of_leaf.leaves = false;
    of_leaf.most_rows = plan.leaf.rows + plan.leaf.rows / 4;  // of a node that could not be cut some are the neurons
    const KernelPlace place = PlaceOf(plan.leaf, options);
    KernelNetwork leaves = FitLeaves(train, of_leaf, {plan.depth, kOverlap, options.threads});
    leaves.groups = result.groups;
    Say(place, leaves);
    return leaves;
  }
  const int64_t most_centres = options.centres > 0 ? options.centres : CentresOf(size, options.most_rows);
  result.search_rows = std::min(train.size(), SearchRows(options));
  const bool all = most_centres >= size.rows || result.search_rows == size.rows;
  const KernelPlace place = PlaceOf({all ? size.rows : result.search_rows, size.columns, size.outputs}, options);
  Say(all || place.device == nullptr ? place : KernelPlace{nullptr, kSomeAreNeurons}, result);
  const bool copies = EqualRowsAreCopies(train);
  PreparedRows rows = Prepared(EvenRows(train, result.search_rows), copies);
  result.machine = Fitted(rows, MachineOptionsOf(options));
  result.tried = result.machine.tried;
  LookAtLeftOut(rows, options, result);
  result.centres = rows.x.rows();
  if (result.machine.complete && train.size() > result.search_rows) {
    rows = Prepared(train, copies);
    result.centres = most_centres;
    RefineWithAll(options, MachineOptionsOf(options), rows, result);
  }
  LeaveApart(options.apart, train.size(), result.machine);
  Finish(options, train.dtype(), std::move(rows), result);
  return result;
}

std::string KernelCostNote(int64_t rows, int64_t columns, int64_t outputs, double prune) {
  const TableSize size{rows, columns, outputs};
  const LeafPlan plan = PlanLeaves(size, KernelNetworkOptions::kMostRows);
  const int64_t bytes = KernelMachineBytes(plan.leaf.rows, columns, outputs, /*left_out=*/false);
  const double machine = OperationsOf(plan.leaf.rows) / 2;
  const double searches = plan.depth == 0 ? 0 : kMachinesOfASearch * OperationsOf(KernelNetworkOptions::kSearchRows);
  const double of_leaf = machine + searches + (prune > 0 ? PruningOperations(plan.leaf.rows, machine) : 0);
  const double operations = static_cast<double>(plan.leaves()) * of_leaf;
  const double seconds = operations / kOperationsPerSecond;
  if (plan.depth == 0 && bytes < kBytesWorthSaying && seconds < kSecondsWorthSaying) {
    return "";
  }
  return fmt::format(
      "a kernel machine of {}{} takes {} of memory and up to {} of one thread", Counted(rows, "training row{s}"),
      plan.depth == 0
          ? ""
          : fmt::format(" in {} leaves of some {} rows", WithThousands(plan.leaves()), WithThousands(plan.leaf.rows)),
      BytesText(bytes), DurationText(seconds));
}

}  // namespace lamina
