// Histograms of slopes over the bins of columns; the leaf whose best question gains most is cut next.
#include "lamina/boost/boosted_trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/base/nan.h"
#include "lamina/base/random.h"
#include "lamina/base/team.h"
#include "lamina/boost/score_form.h"

namespace lamina {
namespace {

constexpr double kLeastGain = 1e-9;
constexpr double kLeastCurvature = 1e-6;  // of a row that is answered surely

// Rows, their bins and scores; training rows have slopes, too.
struct Rows {
  std::vector<uint8_t> codes;   // columns × rows
  std::vector<double> targets;  // rows × scores
  std::vector<double> scores;   // rows × scores
  std::vector<double> weights;  // or empty
  int64_t count = 0;

  uint8_t Code(int64_t column, int64_t row) const { return codes[static_cast<size_t>(column * count + row)]; }
  double Weight(int64_t row) const { return weights.empty() ? 1 : weights[static_cast<size_t>(row)]; }
};

struct Question {
  double gain = 0;
  int64_t column = -1;
  int64_t cut = 0;
};

// A leaf that may be cut.
struct Leaf {
  int64_t node = 0;
  std::vector<int32_t> rows;
  std::vector<double> sums;  // histograms of the columns that the tree sees, one after the other
  Question best;
};

class Boosting {
 public:
  Boosting(const Dataset& train, const Dataset& validation, const BoostOptions& options)
      : options_(options), form_{options.classes, train.targets.cols()}, scores_(form_.scores()) {
    result_.bins = BinColumns(train.features.view(), options.bins, options.threads);
    train_ = RowsOf(train);
    validation_ = RowsOf(validation);
    result_.start = Start();
    for (Rows* rows : {&train_, &validation_}) {
      for (int64_t i = 0; i < rows->count; ++i) {
        rows->scores.insert(rows->scores.end(), result_.start.begin(), result_.start.end());
      }
    }
    slopes_.resize(static_cast<size_t>(train_.count * 2 * scores_));
  }

  BoostedTrees Run() {
    const bool validates = validation_.count > 0;
    double least = validates ? Loss(validation_) : kNaN;
    int64_t kept = 0;
    if (validates) {
      result_.left_out = AnswersTo(validation_);
    }
    for (int64_t round = 0; round < options_.rounds; ++round) {
      if (options_.stop_requested && options_.stop_requested()) {
        return std::move(result_);
      }
      TakeSlopes();
      Random random(options_.seed, static_cast<uint64_t>(round));
      ChooseColumns(random);
      result_.trees.push_back(Grown());
      result_.rounds = round + 1;
      Answer(result_.trees.back(), validation_);
      if (options_.progress) {
        options_.progress(result_.rounds);
      }
      if (!validates) {
        kept = round + 1;
      } else if (const double loss = Loss(validation_); loss < least) {
        least = loss;
        kept = round + 1;
        result_.left_out = AnswersTo(validation_);
      } else if (round + 1 - kept >= options_.patience) {
        break;
      }
      if (result_.trees.back().size() == 1) {  // nothing is left to ask about
        break;
      }
    }
    result_.trees.resize(static_cast<size_t>(kept));
    result_.left_out_loss = least;
    result_.complete = true;
    return std::move(result_);
  }

 private:
  Matrix AnswersTo(const Rows& rows) const {
    Matrix answers(rows.count, form_.outputs, DType::kF64);
    for (int64_t i = 0; i < rows.count; ++i) {
      form_.AllAnswersOf(&rows.scores[static_cast<size_t>(i * scores_)], answers.Row<double>(i));
    }
    return answers;
  }

  std::vector<double> Start() const {
    std::vector<double> sums(static_cast<size_t>(scores_), 0.0);
    double weight = 0;
    for (int64_t i = 0; i < train_.count; ++i) {
      weight += train_.Weight(i);
      for (int64_t k = 0; k < scores_; ++k) {
        sums[static_cast<size_t>(k)] += train_.Weight(i) * train_.targets[static_cast<size_t>(i * scores_ + k)];
      }
    }
    std::transform(sums.begin(), sums.end(), sums.begin(), [&](double sum) { return form_.ScoreOf(sum / weight); });
    return sums;
  }

  double Loss(const Rows& rows) const {
    double sum = 0;
    double weight = 0;
    for (int64_t i = 0; i < rows.count; ++i) {
      const size_t at = static_cast<size_t>(i * scores_);
      sum += rows.Weight(i) * form_.LossOf(&rows.scores[at], &rows.targets[at]);
      weight += rows.Weight(i);
    }
    return sum / weight;
  }

  int64_t stride() const { return 2 * scores_ + 1; }  // slope and curvature of each score, and rows

  Rows RowsOf(const Dataset& data) const {
    Rows rows;
    rows.count = data.size();
    if (rows.count == 0) {
      return rows;
    }
    rows.codes = BinsOf(result_.bins, data.features.view(), options_.threads);
    Matrix targets(rows.count, form_.outputs, DType::kF64);
    ConvertMatrix(data.targets.view(), targets.view());
    for (int64_t i = 0; i < rows.count; ++i) {
      const double* const end = targets.Row<double>(i) + form_.outputs;  // one score is that of the last target
      rows.targets.insert(rows.targets.end(), end - scores_, end);
    }
    rows.weights = data.sample_weights;
    return rows;
  }

  void TakeSlopes() {
    RunParts(options_.threads, train_.count, [&](int64_t begin, int64_t end) {
      std::vector<double> answers(static_cast<size_t>(scores_));
      for (int64_t i = begin; i < end; ++i) {
        const size_t at = static_cast<size_t>(i * scores_);
        form_.AnswersOf(&train_.scores[at], answers.data());
        for (size_t k = 0; k < answers.size(); ++k) {
          const double p = answers[k];
          slopes_[2 * (at + k)] = train_.Weight(i) * (p - train_.targets[at + k]);
          slopes_[2 * (at + k) + 1] =
              train_.Weight(i) * (options_.classes ? std::max(p * (1 - p), kLeastCurvature) : 1.0);
        }
      }
    });
  }

  void ChooseColumns(Random& random) {
    std::vector<int64_t> can;
    for (int64_t j = 0; j < result_.bins.columns(); ++j) {
      if (!result_.bins.cuts[static_cast<size_t>(j)].empty()) {
        can.push_back(j);
      }
    }
    const auto wanted = static_cast<int64_t>(std::ceil(options_.columns * static_cast<double>(can.size())));
    for (int64_t i = 0; i < wanted; ++i) {
      std::swap(can[static_cast<size_t>(i)],
                can[static_cast<size_t>(i) + static_cast<size_t>(random.Below(can.size() - static_cast<size_t>(i)))]);
    }
    can.resize(static_cast<size_t>(wanted));
    std::sort(can.begin(), can.end());
    seen_ = std::move(can);
    begin_.assign(1, 0);
    for (const int64_t column : seen_) {
      begin_.push_back(begin_.back() + (std::ssize(result_.bins.cuts[static_cast<size_t>(column)]) + 1) * stride());
    }
  }

  void AddRows(const std::vector<int32_t>& rows, int64_t place, double* sums) const {
    const uint8_t* const codes = &train_.codes[static_cast<size_t>(seen_[static_cast<size_t>(place)] * train_.count)];
    if (scores_ == 1) {
      for (const int32_t row : rows) {
        double* const bin = sums + 3 * codes[row];
        bin[0] += slopes_[2 * static_cast<size_t>(row)];
        bin[1] += slopes_[2 * static_cast<size_t>(row) + 1];
        bin[2] += 1;
      }
      return;
    }
    for (const int32_t row : rows) {
      double* const bin = sums + stride() * codes[row];
      const double* const slopes = &slopes_[static_cast<size_t>(row * 2 * scores_)];
      for (int64_t k = 0; k < 2 * scores_; ++k) {
        bin[k] += slopes[k];
      }
      bin[2 * scores_] += 1;
    }
  }

  double Score(const double* sums) const {
    double score = 0;
    for (int64_t k = 0; k < scores_; ++k) {
      score += sums[2 * k] * sums[2 * k] / (sums[2 * k + 1] + options_.ridge);
    }
    return score;
  }

  Question BestOfColumn(int64_t place, const double* sums) const {
    const int64_t column = seen_[static_cast<size_t>(place)];
    const int64_t bins = std::ssize(result_.bins.cuts[static_cast<size_t>(column)]) + 1;
    const int64_t numbers = stride();
    std::vector<double> all(static_cast<size_t>(numbers), 0.0);
    for (int64_t b = 0; b < bins; ++b) {
      for (int64_t k = 0; k < numbers; ++k) {
        all[static_cast<size_t>(k)] += sums[b * numbers + k];
      }
    }
    const double before = Score(all.data());
    std::vector<double> no(static_cast<size_t>(numbers), 0.0);
    std::vector<double> yes = all;
    Question best;
    for (int64_t cut = 0; cut < bins - 1; ++cut) {
      for (size_t k = 0; k < no.size(); ++k) {
        no[k] += sums[cut * numbers + static_cast<int64_t>(k)];
        yes[k] = all[k] - no[k];
      }
      if (no.back() < static_cast<double>(options_.least_rows)) {
        continue;
      }
      if (yes.back() < static_cast<double>(options_.least_rows)) {
        break;
      }
      const double gain = Score(no.data()) + Score(yes.data()) - before;
      if (gain > best.gain) {
        best = {gain, column, cut};
      }
    }
    return best;
  }

  void Spare(Leaf& leaf) {
    if (!leaf.sums.empty()) {
      spare_.push_back(std::move(leaf.sums));
    }
  }

  // Sums of the leaf's rows, or of those of `parent` that the other leaf has not.
  void Look(Leaf& leaf, const std::vector<double>* parent, const std::vector<double>* other) {
    if (!spare_.empty()) {
      leaf.sums = std::move(spare_.back());
      spare_.pop_back();
    }
    leaf.sums.assign(static_cast<size_t>(begin_.back()), 0.0);
    std::vector<Question> questions(seen_.size());
    RunEach(options_.threads, std::ssize(seen_), [&](int64_t place) {
      const size_t begin = static_cast<size_t>(begin_[static_cast<size_t>(place)]);
      if (parent == nullptr) {
        AddRows(leaf.rows, place, &leaf.sums[begin]);
      } else {
        for (size_t k = begin; k < static_cast<size_t>(begin_[static_cast<size_t>(place) + 1]); ++k) {
          leaf.sums[k] = (*parent)[k] - (*other)[k];
        }
      }
      questions[static_cast<size_t>(place)] = BestOfColumn(place, &leaf.sums[begin]);
    });
    leaf.best = {};
    for (const Question& question : questions) {
      leaf.best = question.gain > leaf.best.gain ? question : leaf.best;
    }
  }

  // A part of Newton's step of each score, which the leaf's rows take.
  void Settle(const Leaf& leaf, TreeNode& node) {
    for (int64_t k = 0; k < scores_; ++k) {
      double slope = 0;
      double curvature = options_.ridge;
      for (const int32_t row : leaf.rows) {
        slope += slopes_[static_cast<size_t>(2 * (row * scores_ + k))];
        curvature += slopes_[static_cast<size_t>(2 * (row * scores_ + k) + 1)];
      }
      node.value.push_back(-options_.rate * slope / curvature);
      for (const int32_t row : leaf.rows) {
        train_.scores[static_cast<size_t>(row * scores_ + k)] += node.value.back();
      }
    }
  }

  Tree Grown() {
    Tree tree(1);
    std::vector<Leaf> leaves(1);
    leaves[0].rows.resize(static_cast<size_t>(train_.count));
    std::iota(leaves[0].rows.begin(), leaves[0].rows.end(), 0);
    Look(leaves[0], nullptr, nullptr);
    while (std::ssize(leaves) < options_.leaves) {
      const auto next = std::max_element(leaves.begin(), leaves.end(),
                                         [](const Leaf& a, const Leaf& b) { return a.best.gain < b.best.gain; });
      if (next->best.column < 0 || next->best.gain < kLeastGain) {
        break;
      }
      Leaf parent = std::move(*next);
      const Question& question = parent.best;
      Leaf no;
      Leaf yes;
      no.node = std::ssize(tree);
      yes.node = no.node + 1;
      tree[static_cast<size_t>(parent.node)] = {question.column, question.cut, no.node, yes.node, {}};
      tree.resize(tree.size() + 2);
      for (const int32_t row : parent.rows) {
        (train_.Code(question.column, row) > question.cut ? yes : no).rows.push_back(row);
      }
      Leaf& fewer = no.rows.size() < yes.rows.size() ? no : yes;
      Leaf& more = &fewer == &no ? yes : no;
      const bool may_be_cut = std::ssize(more.rows) >= 2 * options_.least_rows;
      if (may_be_cut && std::ssize(leaves) + 1 < options_.leaves) {
        Look(fewer, nullptr, nullptr);
        Look(more, &parent.sums, &fewer.sums);
      }
      Spare(parent);
      *next = std::move(no);
      leaves.push_back(std::move(yes));
    }
    for (Leaf& leaf : leaves) {
      Spare(leaf);
      Settle(leaf, tree[static_cast<size_t>(leaf.node)]);
    }
    return tree;
  }

  void Answer(const Tree& tree, Rows& rows) const {
    for (int64_t i = 0; i < rows.count; ++i) {
      const TreeNode* node = tree.data();
      while (node->column >= 0) {
        node = &tree[static_cast<size_t>(rows.Code(node->column, i) > node->cut ? node->yes : node->no)];
      }
      for (int64_t k = 0; k < scores_; ++k) {
        rows.scores[static_cast<size_t>(i * scores_ + k)] += node->value[static_cast<size_t>(k)];
      }
    }
  }

  const BoostOptions& options_;
  ScoreForm form_;
  int64_t scores_;
  Rows train_;
  Rows validation_;
  std::vector<double> slopes_;              // rows × scores × (slope, curvature)
  std::vector<std::vector<double>> spare_;  // Leaf::sums that nobody needs, whose memory is at hand
  std::vector<int64_t> seen_;               // columns of this tree
  std::vector<int64_t> begin_;              // of their histograms
  BoostedTrees result_;
};

}  // namespace

BoostedTrees FitBoostedTrees(const Dataset& train, const Dataset& validation, const BoostOptions& options) {
  return Boosting(train, validation, options).Run();
}

}  // namespace lamina
