// Each question of a tree adds the product of its path with its own answer, times the difference that this makes.
#include "lamina/boost/tree_network.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
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
  return asked.empty() || asked.back() < trees.inputs() ? std::vector<int64_t>() : asked;
}

// Entries of a map in the order of their places.
template <class Map, class PlaceOf>
std::vector<const typename Map::value_type*> ByPlace(const Map& map, const PlaceOf& place_of) {
  std::vector<const typename Map::value_type*> ordered(map.size());
  for (const auto& entry : map) {
    ordered[static_cast<size_t>(place_of(entry.second))] = &entry;
  }
  return ordered;
}

// Writes the weights and biases, of which all are 0, of a network of trees. Most weights stand in lists.
template <class T>
class Writer {
 public:
  Writer(const BoostedTrees& trees, const std::vector<int64_t>& asked, Network& network)
      : trees_(trees), asked_(asked), network_(network) {}

  void WriteColumns() {
    for (const int64_t column : asked_) {
      if (column < trees_.inputs()) {
        list_.Add(column, 1);
      } else {
        const ColumnSum& sum = trees_.SumOf(column);
        std::pair first(sum.first, sum.first_weight);
        std::pair second(sum.second, sum.second_weight);
        if (second < first) {
          std::swap(first, second);
        }
        Add(first.first, first.second);
        Add(second.first, second.second);
      }
      list_.EndRow();
    }
    WriteList(0);
  }

  void WriteQuestions(const Collected& all) {
    for (const auto* const question : ByPlace(all.questions, [](int64_t place) { return place; })) {
      const auto& [asked, place] = *question;
      const auto& [column, cut] = asked;
      WriteQuestion(column, trees_.bins.cuts[static_cast<size_t>(column)][static_cast<size_t>(cut)], place);
    }
    WriteList(first_);
  }

  void WritePaths(const Collected& all) {
    for (const auto* const path : ByPlace(all.paths, [](const auto& added) { return added.first; })) {
      WritePath(path->first, path->second.first, path->second.second);
    }
    WriteList(first_ + 1);
  }

  void WriteStart(const std::vector<double>& start) {
    EachScore(start, [&](int64_t k, double x) { Bias(2)[k] = static_cast<T>(x); });
  }

 private:
  // The sum of the neuron must tell one side from the other. Both sides themselves get a plain yes or no, however it is
  // rounded.
  void WriteQuestion(int64_t column, const ColumnCut& cut, int64_t place) {
    constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
    const double middle = (cut.below + cut.above) / 2;
    const double size = std::abs(middle) + (column < trees_.inputs() ? 0 : trees_.SumOf(column).size);
    const double apart = std::max((cut.above - cut.below) / 2, size * 8 * kEpsilon);
    const double half = apart - (apart + size) * 2 * kEpsilon;
    const int64_t input = asked_.empty() ? column : std::ranges::lower_bound(asked_, column) - asked_.begin();
    Add(input, 1 / half);
    list_.EndRow();
    Bias(0)[place] = static_cast<T>(-middle / half);
  }

  void WritePath(const Path& path, int64_t place, const std::vector<double>& added) {
    for (const auto& [question, answer] : path) {
      Add(question, answer ? 0.5 : -0.5);
    }
    list_.EndRow();
    Bias(1)[place] = T(1) - static_cast<T>(path.size()) / 2;
    EachScore(added,
              [&](int64_t k, double x) { network_.Weights(first_ + 2).template Row<T>(k)[place] = static_cast<T>(x); });
  }

  void Add(int64_t input, double weight) { list_.Add(input, static_cast<double>(static_cast<T>(weight))); }

  void WriteList(size_t layer) {
    list_.cols = network_.layers()[layer].inputs;
    while (list_.rows() < network_.layers()[layer].outputs) {  // a neuron of a layer that would have none
      list_.EndRow();
    }
    network_.ListWeights(layer, std::make_shared<const SparseMatrix>(std::exchange(list_, {})));
  }

  // Layers are counted from that of the questions on.
  T* Bias(size_t layer) { return static_cast<T*>(network_.Bias(first_ + layer)); }

  // One score is that of the second of two classes.
  template <class To>
  void EachScore(const std::vector<double>& scores, const To& to) const {
    if (std::ssize(scores) < network_.outputs()) {
      to(0, -scores[0] / 2);
      to(1, scores[0] / 2);
      return;
    }
    for (size_t k = 0; k < scores.size(); ++k) {
      to(static_cast<int64_t>(k), scores[k]);
    }
  }

  const BoostedTrees& trees_;
  const std::vector<int64_t>& asked_;
  Network& network_;
  size_t first_ = asked_.empty() ? 0 : 1;
  SparseMatrix list_;  // of the layer that is being written
};

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
  const std::vector<int64_t> asked = AskedWithSums(trees, all);
  std::vector<LayerSpec> layers = TreeLayers(asked.empty() ? trees.inputs() : std::ssize(asked), neurons(all.questions),
                                             neurons(all.paths), outputs, classes);
  if (!asked.empty()) {
    layers.insert(layers.begin(), {trees.inputs(), std::ssize(asked), Synapse::kDot, Activation(), /*bias=*/false});
  }
  Network network(layers, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    Writer<T> writer(trees, asked, network);
    if (!asked.empty()) {
      writer.WriteColumns();
    }
    writer.WriteQuestions(all);
    writer.WritePaths(all);
    writer.WriteStart(start);
  });
  return network;
}

}  // namespace lamina
