// Softmax, the sigmoid of one score, and their losses.
#include "lamina/boost/score_form.h"

#include <algorithm>
#include <cmath>

#include "lamina/backend/cpu/tree_kernels.h"

namespace lamina {
namespace {

constexpr double kLeastShare = 1e-6;  // of a class

}  // namespace

double ScoreForm::ScoreOf(double mean) const {
  if (!classes) {
    return mean;
  }
  const double share = std::clamp(mean, kLeastShare, 1 - kLeastShare);
  return scores() == 1 ? std::log(share / (1 - share)) : std::log(share);
}

void ScoreForm::AnswersOf(const double* scores_of_rows, int64_t rows, double* answers) const {
  if (classes) {
    cpu::TreeKernels().probabilities(scores_of_rows, rows, scores(), answers);
  } else {
    std::copy_n(scores_of_rows, rows * scores(), answers);
  }
}

void ScoreForm::LossesOf(const double* scores_of_rows, const double* targets, int64_t rows, double* losses) const {
  const int64_t count = scores();
  if (classes) {
    cpu::TreeKernels().log_sums(scores_of_rows, rows, count, losses);
  }
  for (int64_t i = 0; i < rows; ++i) {
    double loss = 0;
    double known = 0;  // the targets' sum; of one score 1
    for (int64_t k = i * count; k < (i + 1) * count; ++k) {
      const double error = scores_of_rows[k] - targets[k];
      loss += classes ? -targets[k] * scores_of_rows[k] : error * error;
      known += targets[k];
    }
    losses[i] = classes ? loss + (count == 1 ? 1 : known) * losses[i] : loss;
  }
}

}  // namespace lamina
