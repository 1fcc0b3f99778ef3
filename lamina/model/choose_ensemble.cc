// Greedy selection with replacement.
#include "lamina/model/choose_ensemble.h"

#include <algorithm>
#include <limits>

namespace lamina {
namespace {

// The mean of what was chosen and one more.
void MeanWith(const Matrix& sums, const Matrix& more, int64_t chosen, Matrix& mean) {
  DispatchFloat(more.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < more.rows(); ++i) {
      for (int64_t j = 0; j < more.cols(); ++j) {
        mean.Row<T>(i)[j] = static_cast<T>((sums.Row<double>(i)[j] + static_cast<double>(more.Row<T>(i)[j])) /
                                           static_cast<double>(chosen + 1));
      }
    }
  });
}

void AddTo(Matrix& sums, const Matrix& more) {
  DispatchFloat(more.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < more.rows(); ++i) {
      for (int64_t j = 0; j < more.cols(); ++j) {
        sums.Row<double>(i)[j] += static_cast<double>(more.Row<T>(i)[j]);
      }
    }
  });
}

}  // namespace

EnsembleChoice ChooseEnsemble(std::span<const Matrix> answers, int64_t most,
                              const std::function<double(const Matrix&)>& loss_of, int rounds) {
  Check(!answers.empty() && most >= 1, "ChooseEnsemble: nothing to choose");
  const Matrix& first = answers.front();
  constexpr double kWorst = std::numeric_limits<double>::infinity();
  EnsembleChoice best{std::vector<int64_t>(answers.size()), kWorst, kWorst};
  std::vector<int64_t> counts(answers.size());
  Matrix sums(first.rows(), first.cols(), DType::kF64);
  Matrix mean(first.rows(), first.cols(), first.dtype());
  for (int64_t round = 0; round < rounds; ++round) {
    const bool full = std::count_if(counts.begin(), counts.end(), [](int64_t n) { return n > 0; }) >= most;
    size_t chosen = 0;
    double least = kWorst;
    for (size_t k = 0; k < answers.size(); ++k) {
      if (full && counts[k] == 0) {
        continue;
      }
      MeanWith(sums, answers[k], round, mean);
      if (const double loss = loss_of(mean); loss < least) {
        least = loss;
        chosen = k;
      }
    }
    ++counts[chosen];
    AddTo(sums, answers[chosen]);
    if (round == 0) {
      best.alone = least;
    }
    if (round == 0 || least < best.loss) {
      best.counts = counts;
      best.loss = least;
    }
  }
  return best;
}

}  // namespace lamina
