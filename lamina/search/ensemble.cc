// An ensemble of a search's trials: their kept networks answer the validation rows. Greedy selection chooses among
// them, and one model is made of those that were chosen. Calibration, intervals and test follow. The selection is
// lamina/model/choose_ensemble.h's; the caller writes the file.
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
      const bool leaves = candidates.front().model.gates || model->gates;
      if (leaves || own != encoding || !CheckEnsemble(pair)) {
        continue;
      }
    }
    candidates.push_back({number, std::move(*model)});
  }
  return candidates;
}

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
