// Greedy selection, and the model that comes of it.
#include "lamina/search/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/intervals.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

constexpr int kRounds = 50;

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

struct Candidate {
  int64_t trial;
  Model model;
};

// In the order of the ranking: the best network, and those that can be added to it.
std::vector<Candidate> Candidates(Search& search, const SearchResult& result) {
  std::vector<Candidate> candidates;
  nlohmann::json encoding;
  for (const size_t index : result.ranking) {
    const int64_t number = result.trials[index].number;
    std::optional<Model> model = search.NetworkOf(number);
    if (!model) {
      continue;
    }
    nlohmann::json own = model->preprocessor.ToJson();
    if (candidates.empty()) {
      encoding = std::move(own);
    } else {
      Model pair;
      pair.network = candidates.front().model.network;
      pair.others.push_back(model->network);
      pair.shares = {0.5, 0.5};
      pair.nearest = std::max(candidates.front().model.nearest, model->nearest);
      if (own != encoding || !CheckEnsemble(pair)) {
        continue;
      }
    }
    candidates.push_back({number, std::move(*model)});
  }
  return candidates;
}

}  // namespace

EnsembleChoice ChooseEnsemble(std::span<const Matrix> answers, int64_t most,
                              const std::function<double(const Matrix&)>& loss_of) {
  Check(!answers.empty() && most >= 1, "ChooseEnsemble: nothing to choose");
  const Matrix& first = answers.front();
  constexpr double kWorst = std::numeric_limits<double>::infinity();
  EnsembleChoice best{std::vector<int64_t>(answers.size()), kWorst, kWorst};
  std::vector<int64_t> counts(answers.size());
  Matrix sums(first.rows(), first.cols(), DType::kF64);
  Matrix mean(first.rows(), first.cols(), first.dtype());
  for (int64_t round = 0; round < kRounds; ++round) {
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

namespace {

// One model of those that were chosen, the most often chosen first.
void Join(std::vector<Candidate>& candidates, const std::vector<int64_t>& counts, EnsembleResult& ensemble) {
  int64_t rounds = 0;
  std::vector<size_t> order;
  for (size_t k = 0; k < candidates.size(); ++k) {
    rounds += counts[k];
    if (counts[k] > 0) {
      order.push_back(k);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  ensemble.model = std::move(candidates[order.front()].model);
  for (const size_t k : order) {
    const double share = static_cast<double>(counts[k]) / static_cast<double>(rounds);
    ensemble.parts.push_back({candidates[k].trial, share});
    if (order.size() > 1) {
      ensemble.model.shares.push_back(share);
    }
    if (k != order.front()) {
      ensemble.model.others.push_back(std::move(candidates[k].model.network));
    }
  }
}

}  // namespace

EnsembleResult MakeEnsemble(Search& search, const SearchResult& result) {
  std::vector<Candidate> candidates = Candidates(search, result);
  if (candidates.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no trial left a network for --ensemble",
                {.remedy = "Give the search more time."});
  }
  const Trial& best = result.trials[static_cast<size_t>(candidates.front().trial - 1)];
  const TrainSettings settings = search.SettingsOf(best);
  const std::unique_ptr<Backend> backend =
      MakeTunedBackend("auto", {.threads = static_cast<int>(search.settings().train.threads)}, nullptr);
  const std::shared_ptr<const TrainData> data = search.DataOf(best);
  std::vector<Matrix> answers;
  answers.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    answers.push_back(NetworkOutputs(candidate.model, *backend, data->validation.features));
  }
  const EnsembleChoice choice = ChooseEnsemble(answers, search.settings().ensemble, [&](const Matrix& outputs) {
    return LossOfOutputs(candidates.front().model, outputs, data->validation.targets);
  });
  EnsembleResult ensemble;
  ensemble.loss = choice.loss;
  ensemble.alone = choice.alone;
  Join(candidates, choice.counts, ensemble);
  Model& model = ensemble.model;
  model.profile = search.ProfileOf(best, model.preprocessor);
  if (settings.calibrate) {
    ensemble.calibration = Calibrate(model, *backend, data->validation);
    model.training["calibration"] = ToJson(*ensemble.calibration);
  }
  if (settings.intervals) {
    model.intervals =
        IntervalsOf(ScoreDataset(model, NetworkOutputs(model, *backend, data->validation.features), data->validation),
                    *settings.intervals);
  }
  if (data->test.size() > 0) {
    ensemble.test = Evaluate(model, *backend, data->test);
    model.training["test"] = ToJson(*ensemble.test);
  }
  model.training["ensemble"] = ToJson(ensemble);
  return ensemble;
}

nlohmann::json ToJson(const EnsembleResult& result) {
  nlohmann::json parts = nlohmann::json::array();
  for (const EnsembleResult::Part& part : result.parts) {
    parts.push_back({{"trial", part.trial}, {"share", part.share}});
  }
  return {{"networks", std::move(parts)}, {"validation_loss", result.loss}, {"validation_loss_of_best", result.alone}};
}

}  // namespace lamina
