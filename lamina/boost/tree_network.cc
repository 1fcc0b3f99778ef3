// Each question of a tree adds the product of its path with its own answer, times the difference that this makes.
#include "lamina/boost/tree_network.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace lamina {
namespace {

// Questions by their place, and whether the answer is yes; ascending.
using Path = std::vector<std::pair<int64_t, bool>>;

struct Collected {
  std::map<std::pair<int64_t, int64_t>, int64_t> questions;       // (column, cut) to place
  std::map<Path, std::pair<int64_t, std::vector<double>>> paths;  // to place, and what it adds to the scores
};

// What is added along a path, for rows on it; its questions below add their own.
std::vector<double> Collect(const Tree& tree, int64_t place, const Path& path, Collected& all) {
  const TreeNode& node = tree[static_cast<size_t>(place)];
  if (node.column < 0) {
    return node.value;
  }
  const int64_t question = all.questions.try_emplace({node.column, node.cut}, std::ssize(all.questions)).first->second;
  const auto with = [&](bool answer) {
    Path longer = path;
    longer.emplace_back(question, answer);
    std::sort(longer.begin(), longer.end());
    return longer;
  };
  std::vector<double> no = Collect(tree, node.no, with(false), all);
  const Path right = with(true);
  const std::vector<double> yes = Collect(tree, node.yes, right, all);
  auto& [neuron, added] =
      all.paths.try_emplace(right, std::ssize(all.paths), std::vector<double>(no.size(), 0.0)).first->second;
  for (size_t k = 0; k < no.size(); ++k) {
    added[k] += yes[k] - no[k];
  }
  return no;
}

// The columns that are asked about, ascending, where some of them are sums; else none.
std::vector<int64_t> AskedWithSums(const BoostedTrees& trees, const Collected& all) {
  std::vector<int64_t> asked;
  for (const auto& [question, place] : all.questions) {  // in the order of columns
    if (asked.empty() || asked.back() != question.first) {
      asked.push_back(question.first);
    }
  }
  const int64_t inputs = trees.bins.columns() - std::ssize(trees.sums);
  return asked.empty() || asked.back() < inputs ? std::vector<int64_t>() : asked;
}

}  // namespace

std::vector<LayerSpec> TreeLayers(int64_t inputs, int64_t questions, int64_t paths, int64_t outputs, bool classes) {
  return {{inputs, questions, Synapse::kDot, Activation("linsat"), /*bias=*/true},
          {questions, paths, Synapse::kDot, Activation("relu"), /*bias=*/true},
          {paths, outputs, Synapse::kDot, Activation(classes ? "softmax" : "identity"), /*bias=*/true}};
}

Network NetworkOfTrees(const BoostedTrees& trees, int64_t outputs, bool classes, DType dtype) {
  Collected all;
  std::vector<double> start = trees.start;
  for (const Tree& tree : trees.trees) {
    const std::vector<double> base = Collect(tree, 0, {}, all);
    std::transform(start.begin(), start.end(), base.begin(), start.begin(), std::plus<>());
  }
  const auto neurons = [](const auto& map) { return std::max<int64_t>(1, std::ssize(map)); };
  const int64_t inputs = trees.bins.columns() - std::ssize(trees.sums);
  const std::vector<int64_t> asked = AskedWithSums(trees, all);
  const size_t first = asked.empty() ? 0 : 1;  // layer of questions
  std::vector<LayerSpec> layers = TreeLayers(asked.empty() ? inputs : std::ssize(asked), neurons(all.questions),
                                             neurons(all.paths), outputs, classes);
  if (!asked.empty()) {
    layers.insert(layers.begin(), {inputs, std::ssize(asked), Synapse::kDot, Activation(), /*bias=*/false});
  }
  Network network(layers, dtype);
  const bool one_score = std::ssize(start) < outputs;  // of the second of two classes
  DispatchFloat(dtype, [&]<class T>(T) {
    const auto bias = [&](size_t layer) { return static_cast<T*>(network.Bias(first + layer)); };
    const auto weights = [&](size_t layer, int64_t neuron) { return network.Weights(first + layer).Row<T>(neuron); };
    for (size_t i = 0; i < asked.size(); ++i) {
      T* const of_column = network.Weights(0).Row<T>(static_cast<int64_t>(i));
      if (asked[i] < inputs) {
        of_column[asked[i]] = 1;
        continue;
      }
      const ColumnSum& sum = trees.sums[static_cast<size_t>(asked[i] - inputs)];
      of_column[sum.first] = static_cast<T>(sum.first_weight);
      of_column[sum.second] = static_cast<T>(sum.second_weight);
    }
    for (const auto& [question, place] : all.questions) {
      const ColumnCut& cut = trees.bins.cuts[static_cast<size_t>(question.first)][static_cast<size_t>(question.second)];
      const double middle = (cut.below + cut.above) / 2;
      // The sum of the neuron must tell one side from the other. Both sides themselves get a plain yes or no, however
      // it is rounded.
      constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
      const double size = question.first < inputs ? 0 : trees.sums[static_cast<size_t>(question.first - inputs)].size;
      const double apart = std::max((cut.above - cut.below) / 2, (size + std::abs(middle)) * 8 * kEpsilon);
      const double half = apart - (apart + size + std::abs(middle)) * 2 * kEpsilon;
      const int64_t column =
          asked.empty() ? question.first : std::ranges::lower_bound(asked, question.first) - asked.begin();
      weights(0, place)[column] = static_cast<T>(1 / half);
      bias(0)[place] = static_cast<T>(-middle / half);
    }
    const auto add = [&](const std::vector<double>& added, const auto& to) {
      if (one_score) {
        to(0, -added[0] / 2);
        to(1, added[0] / 2);
        return;
      }
      for (size_t k = 0; k < added.size(); ++k) {
        to(static_cast<int64_t>(k), added[k]);
      }
    };
    for (const auto& [path, neuron] : all.paths) {
      const auto& [place, added] = neuron;
      for (const auto& [question, answer] : path) {
        weights(1, place)[question] = answer ? T(0.5) : T(-0.5);
      }
      bias(1)[place] = T(1) - static_cast<T>(path.size()) / 2;
      add(added, [&, place = place](int64_t k, double x) { weights(2, k)[place] = static_cast<T>(x); });
    }
    add(start, [&](int64_t k, double x) { bias(2)[k] = static_cast<T>(x); });
  });
  return network;
}

}  // namespace lamina
