// Whether the best trial beats the defaults: two cross-validations on the same folds, compared row by row. Training is
// left to CrossValidate(), the comparison to lamina/model/compare_models.h.
#include "lamina/search/default_check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "lamina/base/text.h"
#include "lamina/run/cross_validation.h"

namespace lamina {
namespace {

constexpr double kSeldom = 0.05;

// The answers of trial `trial` on folds; none: interrupted.
std::optional<Contestant> OnFolds(Search& search, const Trial& trial, int64_t folds,
                                  const std::function<bool()>& stop_requested) {
  TrainSettings settings = search.SettingsOf(trial);
  settings.threads = search.settings().train.threads;
  settings.folds = folds;
  CrossValidationCallbacks callbacks;
  callbacks.train.stop_requested = stop_requested;
  callbacks.train.abandon_requested = stop_requested;
  CrossValidation done = CrossValidate(settings, search.Raw(), callbacks);
  if (done.interrupted) {
    return std::nullopt;
  }
  return Contestant{fmt::format("trial {}", trial.number), std::move(done.scored), std::move(done.scored_rows)};
}

}  // namespace

double DefaultCheck::p_value() const {
  const MetricDifference& first = comparison->metrics.front();
  return comparison->mcnemar && first.metric.Text() == "accuracy" ? comparison->mcnemar->p_value : first.p_value;
}

bool DefaultCheck::better() const {
  if (!comparison || comparison->metrics.empty()) {
    return false;
  }
  const MetricDifference& first = comparison->metrics.front();
  return first.metric.IsBetter(first.second, first.first) && p_value() < kSeldom;
}

std::string DefaultCheck::Text() const {
  if (best == 1) {
    return "the default, trial 1, is the best";
  }
  if (!comparison) {
    return "the best was not compared with the default, trial 1, on folds: --check-folds 5 does it";
  }
  const MetricDifference& first = comparison->metrics.front();
  return fmt::format("on {} folds of {} rows, {} of the default {}, of the best {}: {} the default (p = {:.2g})", folds,
                     WithThousands(comparison->rows), first.metric.Title(), first.metric.ValueText(first.first),
                     first.metric.ValueText(first.second), better() ? "better than" : "no better than", p_value());
}

std::optional<DefaultCheck> CheckAgainstDefault(Search& search, const SearchResult& result,
                                                const std::function<bool()>& stop_requested) {
  const Trial& best = result.trials[result.ranking.front()];
  if (result.interrupted || best.history.epochs.empty()) {
    return std::nullopt;
  }
  DefaultCheck check;
  check.best = best.number;
  check.folds = best.number == 1 ? 0 : FoldsOfCheck(search.settings(), search.data().train.size());
  const Trial& standard = result.trials.front();
  if (check.folds == 0 || standard.state == TrialState::kFailed) {
    check.folds = 0;
    return check;
  }
  const std::optional<Contestant> first = OnFolds(search, standard, check.folds, stop_requested);
  const std::optional<Contestant> second = first ? OnFolds(search, best, check.folds, stop_requested) : std::nullopt;
  if (!second) {
    return std::nullopt;
  }
  const TrainSettings& train = search.settings().train;
  check.comparison =
      Compare(*first, *second, MetricsFor(train.metrics, first->targets[0].classes > 0, LevelsOf(first->targets)),
              {.seed = train.seed});
  return check;
}

nlohmann::json ToJson(const DefaultCheck& check) {
  return {{"trial", 1},
          {"folds", check.folds},
          {"better", check.better()},
          {"text", check.Text()},
          {"comparison", check.comparison ? ToJson(*check.comparison) : nlohmann::json(nullptr)}};
}

}  // namespace lamina
