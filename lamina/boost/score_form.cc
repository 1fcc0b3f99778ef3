// Softmax, the sigmoid of one score, and their losses.
#include "lamina/boost/score_form.h"

#include <algorithm>
#include <cmath>

namespace lamina {
namespace {

constexpr double kLeastShare = 1e-6;  // of a class

// ln(sum of exp(score)); of one score beside a second one of 0.
double LogSum(const double* scores, int64_t count) {
  const double largest = std::max(*std::max_element(scores, scores + count), count == 1 ? 0.0 : scores[0]);
  double sum = count == 1 ? std::exp(-largest) : 0;
  for (int64_t k = 0; k < count; ++k) {
    sum += std::exp(scores[k] - largest);
  }
  return largest + std::log(sum);
}

}  // namespace

double ScoreForm::ScoreOf(double mean) const {
  if (!classes) {
    return mean;
  }
  const double share = std::clamp(mean, kLeastShare, 1 - kLeastShare);
  return scores() == 1 ? std::log(share / (1 - share)) : std::log(share);
}

void ScoreForm::AnswersOf(const double* scores_of_row, double* answers) const {
  const int64_t count = scores();
  const double all = classes ? LogSum(scores_of_row, count) : 0;
  std::transform(scores_of_row, scores_of_row + count, answers,
                 [&](double score) { return classes ? std::exp(score - all) : score; });
}

void ScoreForm::AllAnswersOf(const double* scores_of_row, double* answers) const {
  const int64_t count = scores();
  AnswersOf(scores_of_row, answers + outputs - count);
  if (count < outputs) {
    answers[0] = 1 - answers[1];
  }
}

double ScoreForm::LossOf(const double* scores_of_row, const double* targets) const {
  const int64_t count = scores();
  double loss = 0;
  double known = 0;  // the targets' sum; of one score 1
  for (int64_t k = 0; k < count; ++k) {
    const double error = scores_of_row[k] - targets[k];
    loss += classes ? -targets[k] * scores_of_row[k] : error * error;
    known += targets[k];
  }
  return classes ? loss + (count == 1 ? 1 : known) * LogSum(scores_of_row, count) : loss;
}

}  // namespace lamina
