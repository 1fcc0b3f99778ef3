// Histograms of slopes over the bins of columns; the leaf whose best question gains most is cut next.
#include "lamina/boost/boosted_trees.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "lamina/backend/cpu/tree_kernels.h"
#include "lamina/base/nan.h"
#include "lamina/base/random.h"
#include "lamina/base/team.h"
#include "lamina/boost/boost_rows.h"
#include "lamina/boost/row_bins.h"
#include "lamina/boost/score_form.h"

namespace lamina {
namespace {

constexpr double kLeastGain = 1e-9;
constexpr size_t kTrialRounds = 30;       // before BoostOptions::to_beat ends trees
constexpr double kLeastCurvature = 1e-6;  // of a row that is answered surely

struct Question {
  double gain = 0;
  int64_t column = -1;
  int64_t cut = 0;
};

// A leaf that may be cut.
struct Leaf {
  int64_t node = 0;
  std::vector<int32_t> rows;
  std::vector<int32_t> sums;   // of its rows' numbers over the bins that the tree sees
  std::vector<int32_t> total;  // of a column's sums
  Question best;
};

// Sums of numbers are whole: each is a slope times a power of two. So they are exact, and the same for any threads.
double PowerFor(double size) { return size > 0 ? std::exp2(std::floor(std::log2(0x1p30 / size))) : 0; }

class Boosting {
 public:
  Boosting(const Dataset& train, const Dataset& validation, const BoostOptions& options)
      : options_(options),
        form_{options.classes, train.targets.cols()},
        scores_(form_.scores()),
        width_(WidthOf(scores_)) {
    const BinsWithSums bins(train.features, options);
    train_ = BoostRows(train, bins, form_, options);
    validation_ = BoostRows(validation, bins, form_, options);
    result_.bins = bins.All();
    result_.sums = options.sums;
    bins_.emplace(result_.bins, train_.codes, train_.count, options.threads);
    result_.start = Start();
    train_.BeginAt(result_.start);
    validation_.BeginAt(result_.start);
    slopes_.resize(static_cast<size_t>(train_.count * 2 * scores_));
    numbers_.resize(static_cast<size_t>(train_.count * width_));
    slope_scales_.resize(static_cast<size_t>(scores_ + cpu::kCutPadding), 0.0);
    curvature_scales_ = slope_scales_;
    ridges_.assign(slope_scales_.size(), 1.0);
    std::fill_n(ridges_.begin(), scores_, options.ridge);
  }

  BoostedTrees Run() {
    const bool validates = validation_.count > 0;
    double least = validates ? validation_.Loss(form_) : kNaN;
    int64_t kept = 0;
    std::vector<double> best_scores = validation_.scores;
    for (int64_t round = 0; round < options_.rounds; ++round) {
      if (options_.stop_requested && options_.stop_requested()) {
        return std::move(result_);
      }
      TakeSlopes();
      Random random(options_.seed, static_cast<uint64_t>(round));
      ChooseColumns(random);
      result_.trees.push_back(Grown());
      result_.rounds = round + 1;
      validation_.Add(result_.trees.back());
      if (options_.progress) {
        options_.progress(result_.rounds);
      }
      if (validates) {
        result_.losses.push_back(validation_.Loss(form_));
      }
      if (!validates) {
        kept = round + 1;
      } else if (result_.losses.back() < least) {
        least = result_.losses.back();
        kept = round + 1;
        best_scores = validation_.scores;
      } else if (round + 1 - kept >= options_.patience) {
        break;
      }
      if (IsBeaten()) {
        break;
      }
      if (result_.trees.back().size() == 1) {  // nothing is left to ask about
        break;
      }
    }
    result_.trees.resize(static_cast<size_t>(kept));
    result_.kept = kept;
    result_.left_out_loss = least;
    if (validates) {
      result_.left_out = AllAnswersOf(best_scores);
    }
    result_.complete = true;
    return std::move(result_);
  }

 private:
  bool IsBeaten() const {
    const std::vector<double>& others = options_.to_beat;
    const size_t rounds = result_.losses.size();
    return !others.empty() && rounds >= kTrialRounds &&
           result_.losses.back() >= others[std::min(rounds, others.size()) - 1];
  }

  Matrix AllAnswersOf(const std::vector<double>& scores) const {
    const int64_t rows = std::ssize(scores) / scores_;
    std::vector<double> of_scores(scores.size());
    form_.AnswersOf(scores.data(), rows, of_scores.data());
    Matrix answers(rows, form_.outputs, DType::kF64);
    for (int64_t i = 0; i < rows; ++i) {
      double* const end = std::copy_n(&of_scores[static_cast<size_t>(i * scores_)], scores_,
                                      answers.Row<double>(i) + form_.outputs - scores_);
      if (scores_ < form_.outputs) {
        answers.Row<double>(i)[0] = 1 - end[-1];
      }
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

  // A slope and a curvature of each score, and one of rows.
  static int64_t WidthOf(int64_t scores) {
    return (2 * scores + cpu::kBinNumbers) / cpu::kBinNumbers * cpu::kBinNumbers;
  }

  // Slopes and curvatures of a row, and the same as whole numbers.
  void TakeSlopes() {
    const auto scores = static_cast<size_t>(scores_);
    RunParts(options_.threads, train_.count, [&](int64_t begin, int64_t end) {
      std::vector<double> answers(static_cast<size_t>((end - begin) * scores_));
      form_.AnswersOf(&train_.scores[static_cast<size_t>(begin) * scores], end - begin, answers.data());
      for (int64_t i = begin; i < end; ++i) {
        const size_t at = static_cast<size_t>(i) * scores;
        const double weight = train_.Weight(i);
        for (size_t k = 0; k < scores; ++k) {
          const double p = answers[at - static_cast<size_t>(begin) * scores + k];
          slopes_[2 * at + k] = weight * (p - train_.targets[at + k]);
          slopes_[2 * at + scores + k] = weight * (options_.classes ? std::max(p * (1 - p), kLeastCurvature) : 1.0);
        }
      }
    });
    const cpu::TreeTable& kernels = cpu::TreeKernels();
    std::vector<double> scales(2 * scores);
    kernels.sizes(slopes_.data(), train_.count, 2 * scores_, scales.data());
    std::transform(scales.begin(), scales.end(), scales.begin(), PowerFor);
    for (size_t k = 0; k < scores; ++k) {
      slope_scales_[k] = scales[k] > 0 ? 1 / scales[k] : 0;
      curvature_scales_[k] = scales[scores + k] > 0 ? 1 / scales[scores + k] : 0;
    }
    RunParts(options_.threads, train_.count, [&](int64_t begin, int64_t end) {
      kernels.round(&slopes_[2 * static_cast<size_t>(begin) * scores], end - begin, 2 * scores_, scales.data(), width_,
                    &numbers_[static_cast<size_t>(begin * width_)]);
    });
  }

  void ChooseColumns(Random& random) {
    std::vector<int64_t> can = bins_->columns();
    const auto wanted = static_cast<int64_t>(std::ceil(options_.columns * static_cast<double>(can.size())));
    for (int64_t i = 0; i < wanted; ++i) {
      std::swap(can[static_cast<size_t>(i)],
                can[static_cast<size_t>(i) + static_cast<size_t>(random.Below(can.size() - static_cast<size_t>(i)))]);
    }
    can.resize(static_cast<size_t>(wanted));
    std::sort(can.begin(), can.end());
    bins_->See(can, options_.threads);
  }

  double ScoreOf(const int32_t* total) const {
    double score = 0;
    for (int64_t k = 0; k < scores_; ++k) {
      const auto at = static_cast<size_t>(k);
      const double slope = total[k] * slope_scales_[at];
      score += slope * slope / (total[scores_ + k] * curvature_scales_[at] + ridges_[at]);
    }
    return score;
  }

  // The best question about a group's columns, the first of those that are as good.
  Question BestOfGroup(int64_t group, const int32_t* sums, const int32_t* total) const {
    const cpu::CutScales scales = {
        scores_, width_, slope_scales_.data(), curvature_scales_.data(), ridges_.data(), options_.least_rows};
    std::vector<int32_t> scratch(
        static_cast<size_t>(std::max(cpu::kMostBins * cpu::kBinNumbers, width_ + cpu::kCutPadding)));
    const double before = ScoreOf(total);
    Question best;
    for (const RowBins::Column& column : bins_->Seen(group)) {
      const cpu::BestCut cut =
          cpu::TreeKernels().best_cut(sums + column.begin * width_, column.bins, total, scales, scratch.data());
      if (cut.score - before > best.gain) {
        best = {cut.score - before, column.index, cut.cut};
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
  void Look(Leaf& leaf, const Leaf* parent, const Leaf* other) {
    if (!spare_.empty()) {
      leaf.sums = std::move(spare_.back());
      spare_.pop_back();
    }
    leaf.sums.resize(static_cast<size_t>(bins_->bins() * width_));
    const auto numbers_of_total = static_cast<size_t>(width_ + cpu::kCutPadding);
    const auto groups = static_cast<size_t>(bins_->groups());
    std::vector<Question> questions(groups);
    std::vector<std::vector<int32_t>> totals(groups, std::vector<int32_t>(numbers_of_total, 0));
    RunEach(options_.threads, bins_->groups(), [&](int64_t group) {
      const std::span<const RowBins::Column> columns = bins_->Seen(group);
      if (columns.empty()) {
        return;
      }
      std::vector<int32_t>& total = totals[static_cast<size_t>(group)];
      const int64_t begin = columns.front().begin * width_;
      const int64_t end = (columns.back().begin + columns.back().bins) * width_;
      if (parent == nullptr) {
        std::fill(leaf.sums.begin() + begin, leaf.sums.begin() + end, 0);
        bins_->Add(group, leaf.rows, numbers_.data(), width_, leaf.sums.data(), total.data());
      } else {
        const auto minus = [](const std::vector<int32_t>& a, const std::vector<int32_t>& b, int64_t from, int64_t to,
                              std::vector<int32_t>& out) {
          std::transform(a.begin() + from, a.begin() + to, b.begin() + from, out.begin() + from, std::minus<>());
        };
        minus(parent->sums, other->sums, begin, end, leaf.sums);
        minus(parent->total, other->total, 0, width_, total);
      }
      questions[static_cast<size_t>(group)] = BestOfGroup(group, leaf.sums.data(), total.data());
    });
    leaf.best = {};
    for (size_t g = 0; g < groups; ++g) {
      if (!bins_->Seen(static_cast<int64_t>(g)).empty()) {
        leaf.total = std::move(totals[g]);
      }
      leaf.best = questions[g].gain > leaf.best.gain ? questions[g] : leaf.best;
    }
  }

  // A part of Newton's step of each score, which the leaf's rows take.
  void Settle(const Leaf& leaf, TreeNode& node) {
    const auto scores = static_cast<size_t>(scores_);
    std::vector<double> sums(2 * scores, 0.0);
    for (const int32_t row : leaf.rows) {
      const double* const of_row = &slopes_[2 * scores * static_cast<size_t>(row)];
      std::transform(sums.begin(), sums.end(), of_row, sums.begin(), std::plus<>());
    }
    for (size_t k = 0; k < scores; ++k) {
      node.value.push_back(-options_.rate * sums[k] / (sums[scores + k] + options_.ridge));
    }
    for (const int32_t row : leaf.rows) {
      double* const of_row = &train_.scores[scores * static_cast<size_t>(row)];
      std::transform(node.value.begin(), node.value.end(), of_row, of_row, std::plus<>());
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
      tree[static_cast<size_t>(parent.node)] = {question.column, question.cut, no.node, yes.node, {}, question.gain};
      tree.resize(tree.size() + 2);
      for (const int32_t row : parent.rows) {
        (train_.Code(question.column, row) > question.cut ? yes : no).rows.push_back(row);
      }
      Leaf& fewer = no.rows.size() < yes.rows.size() ? no : yes;
      Leaf& more = &fewer == &no ? yes : no;
      const bool may_be_cut = std::ssize(more.rows) >= 2 * options_.least_rows;
      if (may_be_cut && std::ssize(leaves) + 1 < options_.leaves) {
        Look(fewer, nullptr, nullptr);
        Look(more, &parent, &fewer);
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

  const BoostOptions& options_;
  ScoreForm form_;
  int64_t scores_;
  BoostRows train_;
  BoostRows validation_;
  int64_t width_;                // of numbers_
  std::optional<RowBins> bins_;  // of the training rows
  std::vector<double> slopes_;   // rows × (a slope of each score, a curvature of each)
  std::vector<int32_t> numbers_;
  std::vector<double> slope_scales_;  // of 1 in numbers_; kCutPadding more
  std::vector<double> curvature_scales_;
  std::vector<double> ridges_;
  std::vector<std::vector<int32_t>> spare_;  // Leaf::sums that nobody needs, whose memory is at hand
  BoostedTrees result_;
};

}  // namespace

BoostedTrees FitBoostedTrees(const Dataset& train, const Dataset& validation, const BoostOptions& options) {
  return Boosting(train, validation, options).Run();
}

}  // namespace lamina
