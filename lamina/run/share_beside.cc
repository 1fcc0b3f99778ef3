// Shares are compared by how likely they make the truth.
#include "lamina/run/share_beside.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "lamina/base/check.h"
#include "lamina/base/convert.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/outputs.h"
#include "lamina/rbf/even_rows.h"

namespace lamina {
namespace {

constexpr int kStepsOfShare = 20;
constexpr double kTrustInUsualShare = 20;

// -ln of how likely the answers make the truth: by the mean cross-entropy, or with normal errors by the mean square.
double UnlikelihoodOf(double loss, const Matrix& truth, bool classes) {
  const auto rows = static_cast<double>(truth.rows());
  const double least = std::numeric_limits<double>::min();
  return classes ? rows * loss : rows * static_cast<double>(truth.cols()) / 2 * std::log(std::max(loss, least));
}

std::vector<int64_t> RowsAnswered(const Matrix& answers, const Matrix& beside) {
  std::vector<int64_t> asked;
  for (int64_t i = 0; i < answers.rows(); ++i) {
    const bool known = DispatchFloat(answers.dtype(), [&]<class T>(T) { return !std::isnan(answers.Row<T>(i)[0]); });
    if (known && !std::isnan(beside.Row<double>(i)[0])) {
      asked.push_back(i);
    }
  }
  return asked;
}

}  // namespace

double AddBeside(Network network, const Matrix& beside, const Matrix& targets, const ShareRule& rule, Matrix& answers,
                 Model& model) {
  Check(rule.most < 1, "a network beside others that count nothing");
  const std::vector<int64_t> asked = RowsAnswered(answers, beside);
  Matrix converted(beside.rows(), beside.cols(), answers.dtype());
  ConvertMatrix(beside.view(), converted.view());
  const Matrix both[] = {ChosenRows(answers.view(), asked), ChosenRows(converted.view(), asked)};
  const Matrix truth = ChosenRows(targets.view(), asked);
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  double share = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= std::lround(rule.most * kStepsOfShare); ++step) {
    const double of_step = static_cast<double>(step) / kStepsOfShare;
    if (step > 0 && of_step < rule.least) {
      continue;
    }
    const double loss = LossOfOutputs(model, SumOfShares(both, std::array{1 - of_step, of_step}), truth);
    const double cost = UnlikelihoodOf(loss, truth, classes) + kTrustInUsualShare * std::pow(of_step - rule.usual, 2);
    if (cost < least) {
      least = cost;
      share = of_step;
    }
  }
  if (share == 0) {
    return 0;
  }
  const Matrix all[] = {std::move(answers), std::move(converted)};
  answers = SumOfShares(all, std::array{1 - share, share});
  if (model.shares.empty()) {
    model.shares = {1};
  }
  for (double& other : model.shares) {
    other *= 1 - share;
  }
  model.others.push_back(std::move(network));
  model.shares.push_back(share);
  return share;
}

}  // namespace lamina
