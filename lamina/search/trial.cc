// The order of trials, as tables for programs.
#include "lamina/search/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "lamina/base/names.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr Named<TrialState> kTrialStates[] = {{"waiting", TrialState::kWaiting}, {"running", TrialState::kRunning},
                                              {"paused", TrialState::kPaused},   {"stopped", TrialState::kStopped},
                                              {"done", TrialState::kDone},       {"failed", TrialState::kFailed}};

std::string NumberField(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace

std::string_view TrialStateName(TrialState state) { return NameOf(state, kTrialStates); }
TrialState ParseTrialState(std::string_view name) { return ParseName(name, kTrialStates, "unknown state of a trial"); }

double Trial::seconds() const {
  double sum = 0;
  for (const EpochRecord& record : history.epochs) {
    sum += record.train_seconds + record.validation_seconds;
  }
  return sum;
}

TrialScore ScoreOf(const Trial& trial, bool keeps_best) {
  const int64_t epoch = keeps_best ? trial.history.best_epoch : std::ssize(trial.history.epochs);
  if (epoch == 0) {
    return {0, std::nan(""), std::nan("")};
  }
  const EpochRecord& record = trial.history.epochs[static_cast<size_t>(epoch - 1)];
  return {epoch, record.validation_accuracy, record.validation_loss};
}

bool IsOfTrial(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kUnsupported ||
         error.code() == ErrorCode::kDiverged;
}

std::vector<size_t> RankTrials(std::span<const Trial> trials, bool by_accuracy, bool keeps_best) {
  const auto key = [&](size_t i) {
    const Trial& trial = trials[i];
    const TrialScore score = ScoreOf(trial, keeps_best);
    const bool has_result = score.epoch > 0 && !std::isnan(score.loss) && !(by_accuracy && std::isnan(score.accuracy));
    const int group = trial.state == TrialState::kFailed ? 2 : (has_result ? 0 : 1);
    const double accuracy = group == 0 && by_accuracy ? -score.accuracy : 0;
    return std::tuple(group, -trial.stage, accuracy, group == 0 ? score.loss : 0, trial.number);
  };
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

int64_t GoingOn(int64_t finished, double halving, int64_t least) {
  const auto share = static_cast<int64_t>(std::ceil(static_cast<double>(finished) / std::max(1.0, halving)));
  return std::min(finished, std::max({int64_t{1}, share, least}));
}

void StopHopeless(std::span<Trial> trials, int stage, double halving, int64_t least, bool by_accuracy,
                  bool keeps_best) {
  std::vector<size_t> finished;
  for (const size_t i : RankTrials(trials, by_accuracy, keeps_best)) {
    const Trial& trial = trials[i];
    if (trial.state != TrialState::kFailed && trial.state != TrialState::kStopped && trial.stage >= stage) {
      finished.push_back(i);
    }
  }
  // Those that ended early rank by their result among the others here, not by their stage.
  std::stable_sort(finished.begin(), finished.end(), [&](size_t a, size_t b) {
    const TrialScore x = ScoreOf(trials[a], keeps_best);
    const TrialScore y = ScoreOf(trials[b], keeps_best);
    return by_accuracy && x.accuracy != y.accuracy ? x.accuracy > y.accuracy : x.loss < y.loss;
  });
  const auto kept = static_cast<size_t>(GoingOn(std::ssize(finished), halving, least));
  for (size_t i = kept; i < finished.size(); ++i) {
    Trial& trial = trials[finished[i]];
    if (trial.state == TrialState::kPaused && trial.number != 1) {
      trial.state = TrialState::kStopped;
    }
  }
}

std::string RankingCsv(std::span<const Trial> trials, std::span<const size_t> ranking, const SearchSpace& space,
                       bool keeps_best) {
  std::string text = "rank,trial";
  for (const SearchParameter& parameter : space.parameters()) {
    text += "," + parameter.name;
  }
  text += ",state,epochs,epoch,validation_accuracy,validation_loss,seconds,failure\n";
  for (size_t rank = 0; rank < ranking.size(); ++rank) {
    const Trial& trial = trials[ranking[rank]];
    const TrialScore score = ScoreOf(trial, keeps_best);
    text += fmt::format("{},{}", rank + 1, trial.number);
    for (const std::string& value : trial.values) {
      text += "," + CsvField(value);
    }
    text += fmt::format(",{},{},{},{},{},{},{}\n", TrialStateName(trial.state), trial.history.epochs.size(),
                        score.epoch, NumberField(score.accuracy), NumberField(score.loss), NumberField(trial.seconds()),
                        CsvField(trial.failure));
  }
  return text;
}

json RankingJson(std::span<const Trial> trials, std::span<const size_t> ranking, const SearchSpace& space,
                 bool keeps_best) {
  const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
  json list = json::array();
  for (size_t rank = 0; rank < ranking.size(); ++rank) {
    const Trial& trial = trials[ranking[rank]];
    const TrialScore score = ScoreOf(trial, keeps_best);
    json values = json::object();
    for (size_t p = 0; p < trial.values.size(); ++p) {
      values[space.parameters()[p].name] = trial.values[p];
    }
    list.push_back({{"rank", rank + 1},
                    {"trial", trial.number},
                    {"values", values},
                    {"state", TrialStateName(trial.state)},
                    {"epochs", trial.history.epochs.size()},
                    {"epoch", score.epoch},
                    {"validation_accuracy", number(score.accuracy)},
                    {"validation_loss", number(score.loss)},
                    {"seconds", trial.seconds()},
                    {"failure", trial.failure.empty() ? json(nullptr) : json(trial.failure)}});
  }
  return list;
}

}  // namespace lamina
