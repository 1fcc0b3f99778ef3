// Leaves one after the other; what ranks have found goes from each to all.
#include "lamina/rbf/kernel_leaves.h"

#include <algorithm>
#include <utility>

#include "lamina/base/stop.h"
#include "lamina/cluster/communicator.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_layers.h"
#include "lamina/rbf/kernel_solve.h"

namespace lamina {
namespace {

// `leaf` has `share` of all rows in leaves. Where settings differ those of the first are told, errors and column
// weights as their means.
void AddLeaf(KernelNetwork leaf, double share, int64_t columns, KernelNetwork& all) {
  std::vector<double> weights = WeightsAlongColumns(leaf.machine.feature_weights, columns);
  if (all.network.layers().empty()) {
    all.network = std::move(leaf.network);
    all.machine = OfChoice(leaf.machine);
    all.machine.feature_weights.assign(weights.size(), 0.0);
    all.machine.error = all.temperature = 0;
  } else {
    all.others.push_back(std::move(leaf.network));
  }
  for (size_t j = 0; j < weights.size(); ++j) {
    all.machine.feature_weights[j] += share * weights[j];
  }
  all.machine.error += share * leaf.machine.error;
  all.machine.jitter = std::max(all.machine.jitter, leaf.machine.jitter);
  all.left_out_correct += share * leaf.left_out_correct;
  all.temperature += share * leaf.temperature;
  all.growth = std::max(all.growth, leaf.growth);
  all.search_rows += leaf.search_rows;
  all.tried += leaf.tried;
  all.centres += leaf.centres;
  all.unpruned += leaf.unpruned;
  all.equal_rows += leaf.equal_rows;
  all.asked_rows += leaf.asked_rows;
}

// Numbers of a leaf as ranks send them.
struct LeafNumbers {
  KernelKind kind;
  double scale, relative, ridge, jitter, error;
  double left_out_correct, temperature, growth;
  int64_t round, search_rows, tried, centres, unpruned, equal_rows, asked_rows;
  int64_t weights, layers, classes;  // classes: 1 or 0
};

LeafNumbers NumbersOf(const KernelNetwork& leaf) {
  const KernelMachine& machine = leaf.machine;
  return {machine.kind,
          machine.scale,
          machine.relative,
          machine.ridge,
          machine.jitter,
          machine.error,
          leaf.left_out_correct,
          leaf.temperature,
          leaf.growth,
          machine.round,
          leaf.search_rows,
          leaf.tried,
          leaf.centres,
          leaf.unpruned,
          leaf.equal_rows,
          leaf.asked_rows,
          std::ssize(machine.feature_weights),
          std::ssize(leaf.network.layers()),
          leaf.network.layers().back().activation.is_softmax() ? 1 : 0};
}

// A leaf of such numbers for rows of `train`, without weights.
KernelNetwork LeafOf(const LeafNumbers& numbers, const Dataset& train) {
  KernelNetwork leaf;
  leaf.machine.kind = numbers.kind;
  leaf.machine.scale = numbers.scale;
  leaf.machine.relative = numbers.relative;
  leaf.machine.ridge = numbers.ridge;
  leaf.machine.jitter = numbers.jitter;
  leaf.machine.error = numbers.error;
  leaf.machine.round = static_cast<int>(numbers.round);
  leaf.machine.feature_weights.resize(static_cast<size_t>(numbers.weights));
  leaf.left_out_correct = numbers.left_out_correct;
  leaf.temperature = numbers.temperature;
  leaf.growth = numbers.growth;
  leaf.search_rows = numbers.search_rows;
  leaf.tried = numbers.tried;
  leaf.centres = numbers.centres;
  leaf.unpruned = numbers.unpruned;
  leaf.equal_rows = numbers.equal_rows;
  leaf.asked_rows = numbers.asked_rows;
  std::vector<LayerSpec> layers =
      KernelLayers(numbers.kind, numbers.layers == 3, train.inputs(), train.targets.cols(), numbers.classes == 1);
  LayerSpec& centres = layers[layers.size() - 2];
  centres.activation = centres.activation.WithRadius(numbers.scale);
  centres.outputs = layers.back().inputs = numbers.centres;
  leaf.network = Network(layers, train.dtype());
  return leaf;
}

// Collective: the leaf of rank `owner` for all.
void SendLeaf(Communicator& ranks, int owner, const Dataset& train, KernelNetwork& leaf) {
  LeafNumbers numbers{};
  if (ranks.rank() == owner) {
    numbers = NumbersOf(leaf);
  }
  ranks.Broadcast(&numbers, sizeof(numbers), owner);
  if (ranks.rank() != owner) {
    leaf = LeafOf(numbers, train);
  }
  ranks.Broadcast(leaf.machine.feature_weights.data(), numbers.weights * static_cast<int64_t>(sizeof(double)), owner);
  ranks.Broadcast(leaf.network.parameters(), leaf.network.parameter_bytes(), owner);
}

// Its rows' own machine, as far as rows of one group alone can have one.
KernelNetwork FitLeaf(Dataset rows, const KernelNetworkOptions& options) {
  const auto& groups = rows.groups;
  if (std::all_of(groups.begin(), groups.end(), [&](int64_t group) { return group == groups.front(); })) {
    rows.groups.clear();  // no other answers it
  }
  return FitKernelNetwork(rows, options);
}

}  // namespace

KernelNetwork FitLeaves(const Dataset& train, KernelNetworkOptions options, const LeafOptions& tree_options) {
  KernelNetwork result;
  LeafTree tree;
  const auto grow = [&] { tree = GrowLeaves(train, tree_options); };
  bool stopped = options.stop_requested && StopsAt(options.stop_requested, grow);
  if (!options.stop_requested) {
    grow();
  }
  Communicator* const ranks = std::exchange(options.ranks, nullptr);
  options.seconds /= static_cast<double>(std::max<size_t>(1, tree.leaves.size()));
  int64_t tried = 0;
  const auto progress = std::move(options.progress);
  options.progress = [&](int64_t of_leaf) {
    if (progress) {
      progress(tried + of_leaf);
    }
  };
  const auto owner = [&](size_t leaf) { return ranks == nullptr ? 0 : static_cast<int>(leaf) % ranks->size(); };
  std::vector<KernelNetwork> leaves(tree.leaves.size());
  int64_t all_rows = 0;
  for (size_t l = 0; l < leaves.size(); ++l) {
    all_rows += std::ssize(tree.leaves[l].rows);
    if (!stopped && (ranks == nullptr || owner(l) == ranks->rank())) {
      leaves[l] = FitLeaf(ChosenRows(train, tree.leaves[l].rows), options);
      tried += leaves[l].tried;
      stopped = !leaves[l].machine.complete;
    }
  }
  if (ranks == nullptr ? stopped : ranks->Any(stopped)) {
    return KernelNetwork();
  }
  for (size_t l = 0; l < leaves.size(); ++l) {
    if (ranks != nullptr) {
      SendLeaf(*ranks, owner(l), train, leaves[l]);
    }
    const double share = static_cast<double>(tree.leaves[l].rows.size()) / static_cast<double>(all_rows);
    AddLeaf(std::move(leaves[l]), share, train.inputs(), result);
  }
  result.machine.complete = true;
  if (!result.others.empty()) {
    result.gates = GatesOf(tree, train.inputs(), train.dtype());
  }
  return result;
}

}  // namespace lamina
