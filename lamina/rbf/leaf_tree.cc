// Top directions by power iteration, medians, and distances beyond splits as two layers of relu.
#include "lamina/rbf/leaf_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lamina/base/stop.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_machine.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/prepared_rows.h"
#include "lamina/rbf/slope_weights.h"

namespace lamina {
namespace {

constexpr int64_t kDirectionRows = 700;
constexpr int64_t kColumnsOfMatrix = 1000;  // of more, one alone is the direction
constexpr int kPowerSteps = 200;            // of the power iteration
constexpr double kLeastHalf = 0.1;          // of a node's rows, that a half must have

void Normalize(std::vector<double>& direction) {
  const double length = std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
  std::transform(direction.begin(), direction.end(), direction.begin(), [&](double part) { return part / length; });
}

// The top eigenvector of T T' for a lower triangle T.
std::vector<double> TopDirection(const std::vector<double>& t, size_t columns) {
  std::vector<double> direction(columns, 1.0);
  std::vector<double> turned(columns);
  for (int step = 0; step < kPowerSteps; ++step) {
    Normalize(direction);
    for (size_t k = 0; k < columns; ++k) {
      turned[k] = 0;
      for (size_t j = k; j < columns; ++j) {
        turned[k] += t[j * columns + k] * direction[j];
      }
    }
    for (size_t j = 0; j < columns; ++j) {
      direction[j] = std::inner_product(&t[j * columns], &t[j * columns] + j + 1, turned.begin(), 0.0);
    }
  }
  Normalize(direction);
  return direction;
}

class TreeGrower {
 public:
  TreeGrower(const Dataset& train, const LeafOptions& options) : train_(train), options_(options) {}

  LeafTree Grow() {
    std::vector<int64_t> rows(static_cast<size_t>(train_.size()));
    std::iota(rows.begin(), rows.end(), int64_t{0});
    Node(std::move(rows), {});
    FillLeaves();
    return std::move(tree_);
  }

 private:
  void Node(std::vector<int64_t> rows, LeafTree::Leaf path) {
    if (std::ssize(path.splits) == options_.depth) {
      tree_.leaves.push_back(std::move(path));
      return;
    }
    StopPoint();
    LeafSplit split;
    split.direction = DirectionOf(rows);
    const std::vector<double> along = Along(split.direction, rows);
    if (split.direction.empty() || !Cut(along, split)) {
      tree_.leaves.push_back(std::move(path));
      return;
    }
    path.splits.push_back(std::ssize(tree_.splits));
    tree_.splits.push_back(split);
    for (const bool beyond : {false, true}) {
      std::vector<int64_t> half;
      for (size_t i = 0; i < rows.size(); ++i) {
        if ((along[i] > split.at) == beyond) {
          half.push_back(rows[i]);
        }
      }
      LeafTree::Leaf of_half = path;
      of_half.beyond.push_back(beyond);
      Node(std::move(half), std::move(of_half));
    }
  }

  // The direction that an l2 kernel machine of some of the rows finds; empty where the answer depends on no column.
  std::vector<double> DirectionOf(const std::vector<int64_t>& rows) const {
    std::vector<int64_t> some;
    for (const int64_t place : EvenPlaces(std::ssize(rows), std::min<int64_t>(kDirectionRows, std::ssize(rows)))) {
      some.push_back(rows[static_cast<size_t>(place)]);
    }
    Dataset of_node = ChosenRows(train_, some);
    of_node.groups.clear();
    of_node.times.clear();
    const PreparedRows prepared = Prepared(of_node);
    KernelMachineOptions options;
    options.choices.kinds = {{2, 1}};
    options.choices.rounds = 0;
    options.sample_weights = prepared.weights;
    options.groups = prepared.groups;
    options.threads = options_.threads;
    const KernelMachine machine = FitKernelMachine(prepared.x.view(), prepared.y.view(), options);
    const KernelRows of_kernel(prepared.x.view(), machine.feature_weights, machine.kind.p, options_.threads);
    const int64_t stride = of_kernel.columns().stride;
    std::vector<double> alpha(static_cast<size_t>(machine.alpha.cols() * stride));
    for (int64_t i = 0; i < machine.alpha.rows(); ++i) {
      for (int64_t c = 0; c < machine.alpha.cols(); ++c) {
        alpha[static_cast<size_t>(c * stride + i)] = machine.alpha.Row<double>(i)[c];
      }
    }
    const AnswerSlopes slopes{of_kernel,
                              {machine.kind.p, machine.kind.power, machine.scale},
                              alpha.data(),
                              machine.alpha.cols(),
                              machine.feature_weights,
                              prepared.weights,
                              options_.threads};
    return train_.inputs() > kColumnsOfMatrix ? TopColumn(slopes) : TopOfMatrix(slopes);
  }

  static std::vector<double> TopColumn(const AnswerSlopes& slopes) {
    std::vector<double> weights = WeightsOfSlopes(slopes);
    const auto top = std::max_element(weights.begin(), weights.end());
    for (auto weight = weights.begin(); weight != weights.end(); ++weight) {
      *weight = weight == top ? 1 : 0;
    }
    return weights;
  }

  std::vector<double> TopOfMatrix(const AnswerSlopes& slopes) const {
    const std::vector<double> matrix = MatrixOfSlopes(slopes);
    return matrix.empty() ? matrix : TopDirection(matrix, static_cast<size_t>(train_.inputs()));
  }

  std::vector<double> Along(const std::vector<double>& direction, const std::vector<int64_t>& rows) const {
    std::vector<double> along;
    along.reserve(rows.size());
    DispatchFloat(train_.dtype(), [&]<class T>(T) {
      for (const int64_t row : rows) {
        const T* const x = train_.features.Row<T>(row);
        double sum = 0;
        for (size_t j = 0; j < direction.size(); ++j) {
          sum += direction[j] * static_cast<double>(x[j]);
        }
        along.push_back(sum);
      }
    });
    return along;
  }

  // Between two different numbers, as near to the median as there are; false where one side would have too few.
  bool Cut(const std::vector<double>& along, LeafSplit& split) const {
    std::vector<double> sorted = along;
    std::sort(sorted.begin(), sorted.end());
    const int64_t count = std::ssize(sorted);
    const auto differs = [&](int64_t i) {
      return i > 0 && i < count && sorted[static_cast<size_t>(i - 1)] < sorted[static_cast<size_t>(i)];
    };
    int64_t away = 0;
    while (away < count && !differs(count / 2 - away) && !differs(count / 2 + away)) {
      ++away;
    }
    const int64_t cut = differs(count / 2 - away) ? count / 2 - away : count / 2 + away;
    if (away == count || static_cast<double>(std::min(cut, count - cut)) < kLeastHalf * static_cast<double>(count)) {
      return false;
    }
    split.at = std::midpoint(sorted[static_cast<size_t>(cut - 1)], sorted[static_cast<size_t>(cut)]);
    std::transform(sorted.begin(), sorted.end(), sorted.begin(), [&](double x) { return std::abs(x - split.at); });
    const auto width = sorted.begin() + static_cast<int64_t>(options_.overlap * static_cast<double>(count));
    std::nth_element(sorted.begin(), width, sorted.end());
    split.width = *width;
    return split.width > 0;
  }

  void FillLeaves() {
    std::vector<int64_t> rows(static_cast<size_t>(train_.size()));
    std::iota(rows.begin(), rows.end(), int64_t{0});
    std::vector<std::vector<double>> beyond;  // split by split, in widths
    for (const LeafSplit& split : tree_.splits) {
      beyond.push_back(Along(split.direction, rows));
      std::transform(beyond.back().begin(), beyond.back().end(), beyond.back().begin(),
                     [&](double x) { return (x - split.at) / split.width; });
    }
    for (LeafTree::Leaf& leaf : tree_.leaves) {
      for (const int64_t row : rows) {
        double gate = 1;
        for (size_t s = 0; s < leaf.splits.size(); ++s) {
          const double past = beyond[static_cast<size_t>(leaf.splits[s])][static_cast<size_t>(row)];
          gate -= std::max(0.0, leaf.beyond[s] ? -past : past);
        }
        if (gate > 0) {
          leaf.rows.push_back(row);
        }
      }
    }
  }

  const Dataset& train_;
  const LeafOptions& options_;
  LeafTree tree_;
};

}  // namespace

LeafTree GrowLeaves(const Dataset& train, const LeafOptions& options) { return TreeGrower(train, options).Grow(); }

Network GatesOf(const LeafTree& tree, int64_t columns, DType dtype) {
  const int64_t sides = 2 * std::ssize(tree.splits);
  Network gates({{columns, sides, Synapse::kDot, Activation("relu"), /*bias=*/true},
                 {sides, std::ssize(tree.leaves), Synapse::kDot, Activation("relu"), /*bias=*/true}},
                dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t s = 0; s < std::ssize(tree.splits); ++s) {
      const LeafSplit& split = tree.splits[static_cast<size_t>(s)];
      for (int64_t j = 0; j < columns; ++j) {
        const T weight = static_cast<T>(split.direction[static_cast<size_t>(j)] / split.width);
        gates.Weights(0).Row<T>(2 * s)[j] = weight;
        gates.Weights(0).Row<T>(2 * s + 1)[j] = -weight;
      }
      const T at = static_cast<T>(split.at / split.width);
      static_cast<T*>(gates.Bias(0))[2 * s] = -at;
      static_cast<T*>(gates.Bias(0))[2 * s + 1] = at;
    }
    for (int64_t l = 0; l < std::ssize(tree.leaves); ++l) {
      const LeafTree::Leaf& leaf = tree.leaves[static_cast<size_t>(l)];
      for (size_t s = 0; s < leaf.splits.size(); ++s) {
        // What is beyond a split lies past the half that is not.
        gates.Weights(1).Row<T>(l)[2 * leaf.splits[s] + (leaf.beyond[s] ? 1 : 0)] = T(-1);
      }
      static_cast<T*>(gates.Bias(1))[l] = T(1);
    }
  });
  return gates;
}

}  // namespace lamina
