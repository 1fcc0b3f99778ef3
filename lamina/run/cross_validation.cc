// Cross-validation: a TrainSession for each fold, in order, whose answers are collected. All rows are then judged
// together, and the settings of the final model follow. --effort best trains the portfolio (best_effort.cc) instead.
// The caller trains the final model with what was found.
#include "lamina/run/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/intervals.h"
#include "lamina/run/line_first.h"
#include "lamina/run/method_choice.h"
#include "lamina/run/side_by_side.h"
#include "lamina/run/table_rows.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/validation.h"

namespace lamina {
namespace {

constexpr const char* kPortfolioRemark =
    "these rows also chose the models that answer together: on ten public tables the log loss of new rows was 12 % "
    "larger in the mean, errors of numbers were not; --nested 3 measures it on folds that chose nothing";

// What is one run of all, and no fold's: files and the model's own numbers.
TrainSettings SettingsOfFold(const TrainSettings& settings, int64_t fold) {
  TrainSettings one = settings;
  one.fold = fold;
  one.model = one.history = one.history_json = one.checkpoint = one.out_of_fold = one.test = "";
  one.checkpoint_epochs = 0;
  return one;
}

// Whether a training that stops early is the beginning of a longer one. Settings without anything open.
bool EndsAnywhere(const TrainSettings& whole) {
  return whole.schedule == ScheduleKindName(ScheduleKind::kConstant) ||
         whole.schedule == ScheduleKindName(ScheduleKind::kStep);
}

// All rows train. Epochs are as many as the folds' best ones on average, where the schedule does not depend on how many
// follow. Else they are all, since the last steps of a schedule are its best.
TrainSettings SettingsOfAll(const TrainSettings& settings, const RawData& raw, std::span<const FoldResult> folds) {
  TrainSettings all = settings;
  all.folds = all.fold = 0;
  all.bag = false;
  all.out_of_fold = "";
  if (!all.group.empty() && LearnsByGradient(settings)) {
    all.drop.push_back(all.group);
    all.group = "";
  }
  if (raw.validation) {
    return all;
  }
  all.split = {1, 0, 0};
  if (!LearnsByGradient(settings)) {
    return all;  // rows are left out by group or time still
  }
  all.split_by = "";
  double best = 0;
  double planned = 0;
  for (const FoldResult& fold : folds) {
    best += static_cast<double>(fold.best_epoch) / static_cast<double>(folds.size());
    planned += static_cast<double>(fold.epochs) / static_cast<double>(folds.size());
  }
  const TrainSettings whole = *Resolve(settings, settings.task == "classification");
  all.epochs = std::max<int64_t>(1, std::llround(EndsAnywhere(whole) && whole.keep != "last" ? best : planned));
  all.weight_decay = folds.empty() ? settings.weight_decay : std::optional(folds.front().weight_decay);
  all.batch = folds.empty() ? settings.batch : std::optional(folds.front().batch);
  all.patience = all.patience_waves = 0;
  all.keep = "last";
  all.monitor = kMonitorLoss;
  return all;
}

// Networks of one encoding can be added.
Preprocessor EncodingOfAll(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom) {
  return PlanData(SettingsOfAll(settings, raw, {}), raw, custom).preprocessor;
}

std::vector<MetricSpread> SpreadsOf(std::span<const MetricValue> all, std::span<const FoldResult> folds) {
  std::vector<MetricSpread> spreads;
  for (size_t m = 0; m < all.size(); ++m) {
    MetricSpread spread;
    spread.all = all[m];
    std::vector<double> values;
    for (const FoldResult& fold : folds) {
      if (fold.metrics[m].reason.empty()) {
        values.push_back(fold.metrics[m].value);
      } else if (spread.undefined++ == 0) {
        spread.why = fmt::format("fold {}: {}", fold.fold, fold.metrics[m].reason);
      }
    }
    const auto n = static_cast<double>(values.size());
    double sum = 0;
    for (const double value : values) {
      sum += value;
    }
    spread.mean = values.empty() ? kNaN : sum / n;
    double squares = 0;
    for (const double value : values) {
      squares += (value - spread.mean) * (value - spread.mean);
    }
    spread.deviation = values.size() < 2 ? kNaN : std::sqrt(squares / (n - 1));
    spreads.push_back(std::move(spread));
  }
  return spreads;
}

// The same question and recipe in every fold and for the model of all: by all rows, and before the folds' numbers are
// settings.
TrainSettings WithTaskAndRecipe(const TrainSettings& settings, const RawData& raw) {
  TrainSettings with = ChooseMethod(settings, raw).settings;
  if (settings.task == kAutoText) {
    with.task = TaskOf(settings, raw) == Task::kClassification ? "classification" : "regression";
  }
  return with;
}

// What a fold's run and its answers to the rows it has not seen say.
FoldResult ResultOf(int64_t fold, const TrainSession& session, const TrainResult& trained,
                    std::span<const ScoredRows> scored) {
  FoldResult one;
  one.fold = fold;
  one.train_rows = session.rows().train;
  one.validation_rows = session.validation().size();
  one.test_rows = session.test().size();
  one.epochs = std::ssize(trained.history.epochs);
  one.best_epoch = trained.history.best_epoch;
  one.train_seconds = trained.train_seconds;
  one.batch = session.options().batch;
  one.weight_decay = session.options().rule.weight_decay;
  one.temperature = trained.calibration ? trained.calibration->temperature : 1;
  one.coverage = trained.coverage;
  one.metrics = MeasureMetrics(MetricsFor(session.settings().metrics, scored[0].classes > 0, LevelsOf(scored)), scored,
                               {.resamples = 0});
  return one;
}

// Metrics and remarks by all rows, each answered by the model that has not seen it.
void JudgeAll(const TrainSettings& settings, OutOfFoldCollector& collector, CrossValidation& result) {
  std::tie(result.scored, result.scored_rows) = collector.FinishScores();
  const std::vector<ScoredRows>& all = result.scored;
  const std::vector<Metric> metrics = MetricsFor(settings.metrics, all[0].classes > 0, LevelsOf(all));
  result.metrics = SpreadsOf(MeasureMetrics(metrics, all, {.seed = settings.seed}), result.folds);
  result.evaluation =
      collector.Evaluated(all, settings.cost_matrix.empty() ? CostMatrix() : CostMatrix::Read(settings.cost_matrix));
  if (settings.intervals) {
    result.found.intervals = IntervalsOf(all, *settings.intervals);
  }
  result.out_of_fold = collector.Finish();
  result.remarks = result.out_of_fold.RareClasses(settings.folds);
  if (!result.portfolio.empty()) {
    result.remarks.emplace_back(kPortfolioRemark);
  } else if (settings.bag && LearnsByGradient(settings) && settings.split.size() == 3 && settings.split[1] == 0) {
    result.remarks.emplace_back(
        "the rows of a fold also told its network's best epoch: its figures are a little better than new rows' will "
        "be");
  }
}

void Conclude(const TrainSettings& settings, CrossValidation& result) {
  result.found.cross_validation = ToJson(result);
  if (!settings.out_of_fold.empty()) {
    WriteFileAtomically(settings.out_of_fold, result.out_of_fold.Csv());
  }
}

// The folds that the portfolio's models are trained on, with nothing decided but the task.
TrainSettings SettingsOfPortfolio(const TrainSettings& given, const RawData& raw) {
  if (raw.main.train.is_image) {
    RefuseSetting("effort", "--effort best is for tables, and these are images", given.effort,
                  "Leave --effort out, or use lamina search --ensemble.");
  }
  TrainSettings settings = given;
  settings.effort = NameOf(Effort::kNormal, kEfforts);
  settings.time_limit = "";
  settings.nested = 0;
  settings.folds = kFoldsOfBest;
  settings.bag = true;
  settings.split = {1, 0, 0};
  settings.line = kFirstText;
  settings.task = TaskOf(given, raw) == Task::kClassification ? "classification" : "regression";
  const int64_t rows = raw.main.train.rows;
  TellPairsApart(settings.samples > 0 ? std::min(settings.samples, rows) : rows, settings);
  return settings;
}

// Folds of the models' mix, which nobody trained as such.
void JudgePortfolio(const TrainSettings& settings, const RawData& raw, const PortfolioResult& portfolio,
                    CrossValidation& result) {
  OutOfFoldCollector collector(raw, settings);
  int64_t rows = 0;
  for (const Dataset& test : portfolio.tests) {
    rows += std::ssize(test.rows);
  }
  for (size_t f = 0; f < portfolio.tests.size(); ++f) {
    FoldResult fold;
    fold.fold = static_cast<int64_t>(f) + 1;
    fold.test_rows = fold.validation_rows = std::ssize(portfolio.tests[f].rows);
    fold.train_rows = rows - fold.test_rows;
    const std::vector<ScoredRows> scored =
        collector.Take(fold.fold, portfolio.model, portfolio.tests[f], portfolio.answers[f]);
    fold.metrics =
        MeasureMetrics(MetricsFor(settings.metrics, scored[0].classes > 0, LevelsOf(scored)), scored, {.resamples = 0});
    result.folds.push_back(std::move(fold));
  }
  JudgeAll(settings, collector, result);
}

// Metrics of the whole of it on folds that nothing in it has seen.
class NestedFolds {
 public:
  NestedFolds(const TrainSettings& given, const RawData& raw, const std::vector<Activation>& custom)
      : raw_(raw), custom_(custom), outer_(SettingsOfPortfolio(given, raw)), inner_(given), collector_(raw, outer_) {
    outer_.folds = given.nested;
    inner_.nested = 0;
    inner_.model = inner_.out_of_fold = inner_.test = "";
    inner_.intervals.reset();
  }

  /// Whether it was not stopped. `train`: the same run on fewer rows.
  bool Measure(const std::function<CrossValidation(const TrainSettings&, const RawData&)>& train) {
    for (outer_.fold = 1; outer_.fold <= outer_.folds; ++outer_.fold) {
      const Split split = PlanData(outer_, raw_, custom_).split;
      RawData rest;
      rest.main.target = raw_.main.target;
      rest.main.train = TableOfRows(raw_.main.train, split.train);
      const CrossValidation found = train(inner_, rest);
      if (found.interrupted || found.stopped) {
        return false;
      }
      TrainSession session(found.final_settings, rest, found.found, custom_);
      session.Run({});
      const Model& model = session.model();
      const Dataset test = BoundTable(model.preprocessor, raw_.main.train, TableUse::kForTraining)
                               .Encode(split.test, model.network.dtype());
      FoldResult fold;
      fold.fold = outer_.fold;
      const std::vector<ScoredRows> scored =
          collector_.Take(fold.fold, model, test, NetworkOutputs(model, session.backend(), test.features));
      fold.metrics = MeasureMetrics(MetricsOf(scored), scored, {.resamples = 0});
      folds_.push_back(std::move(fold));
    }
    return true;
  }

  std::vector<MetricSpread> Spreads() {
    const std::vector<ScoredRows> scored = collector_.FinishScores().first;
    return SpreadsOf(MeasureMetrics(MetricsOf(scored), scored, {.seed = outer_.seed}), folds_);
  }

 private:
  std::vector<Metric> MetricsOf(const std::vector<ScoredRows>& scored) const {
    return MetricsFor(outer_.metrics, scored[0].classes > 0, LevelsOf(scored));
  }

  const RawData& raw_;
  const std::vector<Activation>& custom_;
  TrainSettings outer_;
  TrainSettings inner_;
  OutOfFoldCollector collector_;
  std::vector<FoldResult> folds_;
};

CrossValidation BestOfPortfolio(const TrainSettings& given, const RawData& raw,
                                const CrossValidationCallbacks& callbacks, const std::vector<Activation>& custom);

// A remark that says what it found, in the place of the one that figures are optimistic.
void AddNested(const TrainSettings& given, const RawData& raw, const CrossValidationCallbacks& callbacks,
               const std::vector<Activation>& custom, CrossValidation& result) {
  if (given.nested == 0 || result.stopped) {
    return;
  }
  NestedFolds nested(given, raw, custom);
  CrossValidationCallbacks quiet;
  quiet.train.stop_requested = callbacks.train.stop_requested;
  if (!nested.Measure([&](const TrainSettings& inner, const RawData& rest) {
        return BestOfPortfolio(inner, rest, quiet, custom);
      })) {
    result.remarks.emplace_back("stopped before the nested folds were all measured: they say nothing");
    return;
  }
  result.nested = nested.Spreads();
  std::string text;
  for (const MetricSpread& spread : result.nested) {
    text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", spread.all.target.empty() ? "" : spread.all.target + " ",
                        spread.all.metric.Title(), spread.Text());
  }
  std::erase(result.remarks, kPortfolioRemark);
  result.remarks.push_back(
      fmt::format("on {} folds that nothing was chosen by, with their spread: {}", given.nested, text));
}

CrossValidation BestOfPortfolio(const TrainSettings& given, const RawData& raw,
                                const CrossValidationCallbacks& callbacks, const std::vector<Activation>& custom) {
  const TrainSettings settings = SettingsOfPortfolio(given, raw);
  CrossValidation result;
  result.found.encoding = EncodingOfAll(settings, raw, custom);
  if (callbacks.planned) {
    callbacks.planned(*result.found.encoding);
  }
  PortfolioResult portfolio =
      TrainPortfolio(Portfolio(), {settings, raw, *result.found.encoding, custom},
                     ParseTimeLimit_seconds(given.time_limit).value_or(kLimitOfBest_seconds),
                     {.part_done = callbacks.part_done, .stop_requested = callbacks.train.stop_requested});
  result.interrupted = portfolio.interrupted;
  if (result.interrupted) {
    return result;
  }
  result.stopped = portfolio.stopped;
  result.portfolio = std::move(portfolio.parts);
  JudgePortfolio(settings, raw, portfolio, result);
  for (std::string line : {LineText(portfolio.model.training), portfolio.twins}) {
    if (!line.empty()) {
      result.remarks.push_back(std::move(line));
    }
  }
  result.found.networks = std::move(portfolio.networks);
  result.found.shares = std::move(portfolio.shares);
  result.final_settings = given;
  result.final_settings.task = settings.task;
  result.final_settings.out_of_fold = "";
  AddNested(given, raw, callbacks, custom, result);
  Conclude(given, result);
  return result;
}

}  // namespace

CrossValidation CrossValidate(const TrainSettings& given, const RawData& raw, const CrossValidationCallbacks& callbacks,
                              const std::vector<Activation>& custom) {
  ValidateSettings(given, custom);
  CheckTrainOutputs(given, custom);
  if (EffortFrom(given) == Effort::kBest) {
    return BestOfPortfolio(given, raw, callbacks, custom);
  }
  const TrainSettings settings = WithTaskAndRecipe(given, raw);
  CrossValidation result;
  result.found.encoding = settings.bag ? std::optional(EncodingOfAll(settings, raw, custom)) : std::nullopt;
  OutOfFoldCollector collector(raw, settings);
  double log_temperature = 0;
  bool calibrated = false;
  SideBySide sessions([&](int64_t fold, MakesBackend make_backend) {
    FoundByFolds found{.encoding = result.found.encoding, .make_backend = std::move(make_backend)};
    return std::make_unique<TrainSession>(SettingsOfFold(settings, fold), raw, std::move(found), custom);
  });
  for (int64_t fold = 1; fold <= settings.folds; ++fold) {
    const auto [session, trained] = sessions.Train(fold, settings.folds, callbacks.started, callbacks.train);
    if (trained.history.stop_reason == "interrupted") {
      result.interrupted = true;
      return result;
    }
    const std::vector<ScoredRows> scored =
        collector.Take(fold, session->model(), session->test(),
                       NetworkOutputs(session->model(), session->backend(), session->test().features));
    if (settings.bag) {
      RefuseNearest(session->model(), "--bag");
      RefuseEnsemble(session->model(), "--bag");
      result.found.networks.push_back(session->model().network);
    }
    FoldResult one = ResultOf(fold, *session, trained, scored);
    log_temperature += std::log(one.temperature);
    calibrated |= trained.calibration.has_value();
    if (callbacks.done) {
      callbacks.done(one);
    }
    result.folds.push_back(std::move(one));
  }
  JudgeAll(settings, collector, result);
  if (calibrated) {
    result.found.temperature = std::exp(log_temperature / static_cast<double>(settings.folds));
  }
  result.final_settings = SettingsOfAll(settings, raw, result.folds);
  Conclude(settings, result);
  return result;
}

}  // namespace lamina
