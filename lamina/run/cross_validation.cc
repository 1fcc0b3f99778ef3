// Fold by fold through TrainSession; then what they have in common.
#include "lamina/run/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/model/intervals.h"
#include "lamina/run/method_choice.h"
#include "lamina/settings/method.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/validation.h"

namespace lamina {
namespace {

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

// All rows train. As many epochs as the folds' best ones on average, where the schedule does not depend on how many
// follow; else all of them, since the last steps of a schedule are its best.
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

// A number as the files of answers have it.
std::string AnswerText(double value) { return fmt::format("{:.9g}", value); }

class Collector {
 public:
  Collector(const RawData& raw, const TrainSettings& settings) : table_(raw.main.train), settings_(settings) {}

  /// The answers of a trained fold to its own rows.
  std::vector<ScoredRows> Take(int64_t fold, const TrainSession& session) {
    const Model& model = session.model();
    const Dataset& test = session.test();
    const Matrix raw = NetworkOutputs(model, session.backend(), test.features);
    const Matrix outputs = InTargetUnits(model, raw);
    if (const int64_t row = FirstNotFinite(outputs); row >= 0) {
      throw Error(ErrorCode::kBadModel, fmt::format("an answer of fold {} is not a finite number", fold),
                  {.file = table_.source, .line = table_.LineOf(test.rows[static_cast<size_t>(row)])});
    }
    out_.targets = model.preprocessor.targets().answer_names();
    std::vector<ScoredRows> scored = ScoreDataset(model, raw, test);
    if (scored[0].classes > 0) {
      TakeClasses(fold, model.preprocessor.targets().class_names(), scored[0], test);
    } else {
      TakeValues(fold, scored, test);
    }
    return scored;
  }

  /// In the order of the table, also those without an answer.
  OutOfFold Finish() {
    const std::vector<int64_t> rows =
        SelectRows(table_.rows, settings_.samples, settings_.random_samples, settings_.seed);
    std::map<int64_t, OutOfFold::Row> by_row;
    for (OutOfFold::Row& row : out_.rows) {
      const int64_t place = row.row;
      by_row[place] = std::move(row);
    }
    out_.rows.clear();
    for (const int64_t row : rows) {
      const auto found = by_row.find(row);
      out_.rows.push_back(found != by_row.end() ? std::move(found->second) : OutOfFold::Row{row, 0, "", "", {}});
      out_.rows.back().numbers.resize(out_.classes.empty() ? out_.targets.size() : out_.classes.size(), kNaN);
    }
    return std::move(out_);
  }

  Evaluation Evaluated(std::span<const ScoredRows> scored, const CostMatrix& costs) const {
    return EvaluateScored(scored, out_.classes, costs);
  }

  /// All out-of-fold answers as one, classes by their places in the list of all, and their rows. Before Finish().
  std::pair<std::vector<ScoredRows>, std::vector<int64_t>> FinishScores() {
    std::vector<int64_t> of_table;
    for (const OutOfFold::Row& row : out_.rows) {
      of_table.push_back(row.row);
    }
    for (ScoredRows& rows : scored_) {
      if (rows.classes == 0) {
        continue;
      }
      rows.classes = std::ssize(out_.classes);
      for (const OutOfFold::Row& row : out_.rows) {
        for (int64_t c = 0; c < rows.classes; ++c) {
          const double score = c < std::ssize(row.numbers) ? row.numbers[static_cast<size_t>(c)] : kNaN;
          rows.scores.push_back(std::isnan(score) ? (rows.probabilities ? 0 : -std::numeric_limits<double>::max())
                                                  : score);
        }
      }
    }
    return {std::move(scored_), std::move(of_table)};
  }

 private:
  int32_t ClassIndex(const std::string& name) {
    const auto found = std::find(out_.classes.begin(), out_.classes.end(), name);
    if (found == out_.classes.end()) {
      out_.classes.push_back(name);
      return static_cast<int32_t>(std::ssize(out_.classes) - 1);
    }
    return static_cast<int32_t>(found - out_.classes.begin());
  }

  void TakeClasses(int64_t fold, const std::vector<std::string>& names, const ScoredRows& scored, const Dataset& test) {
    std::vector<int32_t> place;
    place.reserve(names.size());
    for (const std::string& name : names) {
      place.push_back(ClassIndex(name));
    }
    scored_.resize(1);
    ScoredRows& all = scored_[0];
    all.classes = scored.classes;
    all.target = scored.target;
    all.probabilities = scored.probabilities;
    const Column& target = table_.columns[static_cast<size_t>(table_.FindColumn(scored.target))];
    const CategoryView view(target, test.rows);
    for (size_t i = 0; i < scored.labels.size(); ++i) {
      OutOfFold::Row row{test.rows[i], fold, "", names[static_cast<size_t>(scored.predicted[i])], {}};
      const int32_t label = scored.labels[i];
      row.truth =
          label >= 0 ? names[static_cast<size_t>(label)] : view.names()[static_cast<size_t>(view.Code(test.rows[i]))];
      row.numbers.assign(out_.classes.size(), kNaN);
      for (size_t c = 0; c < names.size(); ++c) {
        row.numbers[static_cast<size_t>(place[c])] = scored.Score(static_cast<int64_t>(i), static_cast<int64_t>(c));
      }
      all.labels.push_back(label < 0 ? -1 : place[static_cast<size_t>(label)]);
      all.predicted.push_back(place[static_cast<size_t>(scored.predicted[i])]);
      out_.rows.push_back(std::move(row));
    }
  }

  void TakeValues(int64_t fold, const std::vector<ScoredRows>& scored, const Dataset& test) {
    scored_.resize(scored.size());
    for (size_t i = 0; i < test.rows.size(); ++i) {
      OutOfFold::Row row{test.rows[i], fold, "", "", {}};
      for (const ScoredRows& target : scored) {
        row.truth += (row.truth.empty() ? "" : ",") + AnswerText(target.truth[i]);
        row.numbers.push_back(target.answers[i]);
      }
      out_.rows.push_back(std::move(row));
    }
    for (size_t j = 0; j < scored.size(); ++j) {
      scored_[j].target = scored[j].target;
      scored_[j].level = scored[j].level;
      scored_[j].truth.insert(scored_[j].truth.end(), scored[j].truth.begin(), scored[j].truth.end());
      scored_[j].answers.insert(scored_[j].answers.end(), scored[j].answers.begin(), scored[j].answers.end());
    }
  }

  const Table& table_;
  const TrainSettings& settings_;
  OutOfFold out_;
  std::vector<ScoredRows> scored_;
};

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

// Classes that cannot be in every fold.
std::vector<std::string> RareClasses(const OutOfFold& out, int64_t folds) {
  std::vector<std::string> remarks;
  if (out.classes.empty()) {
    return remarks;
  }
  std::map<std::string, int64_t> counts;
  for (const OutOfFold::Row& row : out.rows) {
    counts[row.truth] += row.fold > 0 ? 1 : 0;
  }
  for (const auto& [name, count] : counts) {
    if (count > 0 && count < folds) {
      remarks.push_back(fmt::format("class '{}' has {}, fewer than the {} folds: some of them do not test it", name,
                                    Counted(count, "row{s}"), folds));
    }
  }
  return remarks;
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
void JudgeAll(const TrainSettings& settings, Collector& collector, CrossValidation& result) {
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
  result.remarks = RareClasses(result.out_of_fold, settings.folds);
  if (settings.bag && LearnsByGradient(settings) && settings.split.size() == 3 && settings.split[1] == 0) {
    result.remarks.emplace_back(
        "the rows of a fold also told its network's best epoch: its figures are a little better than new rows' will "
        "be");
  }
}

}  // namespace

CrossValidation CrossValidate(const TrainSettings& given, const RawData& raw, const CrossValidationCallbacks& callbacks,
                              const std::vector<Activation>& custom) {
  ValidateSettings(given, custom);
  CheckTrainOutputs(given, custom);
  const TrainSettings settings = WithTaskAndRecipe(given, raw);
  CrossValidation result;
  result.found.encoding = settings.bag ? std::optional(EncodingOfAll(settings, raw, custom)) : std::nullopt;
  Collector collector(raw, settings);
  double log_temperature = 0;
  for (int64_t fold = 1; fold <= settings.folds; ++fold) {
    TrainSession session(SettingsOfFold(settings, fold), raw, {.encoding = result.found.encoding}, custom);
    if (callbacks.started) {
      callbacks.started(fold, session);
    }
    const TrainResult trained = session.Run(callbacks.train);
    if (trained.history.stop_reason == "interrupted") {
      result.interrupted = true;
      return result;
    }
    const std::vector<ScoredRows> scored = collector.Take(fold, session);
    if (settings.bag) {
      RefuseNearest(session.model(), "--bag");
      result.found.networks.push_back(session.model().network);
    }
    FoldResult one = ResultOf(fold, session, trained, scored);
    log_temperature += std::log(one.temperature);
    if (callbacks.done) {
      callbacks.done(one);
    }
    result.folds.push_back(std::move(one));
  }
  JudgeAll(settings, collector, result);
  if (settings.calibrate) {
    result.found.temperature = std::exp(log_temperature / static_cast<double>(settings.folds));
  }
  result.final_settings = SettingsOfAll(settings, raw, result.folds);
  result.found.cross_validation = ToJson(result);
  if (!settings.out_of_fold.empty()) {
    WriteFileAtomically(settings.out_of_fold, result.out_of_fold.Csv());
  }
  return result;
}

std::string OutOfFold::Csv() const {
  std::string text = "row,fold";
  for (const std::string& target : targets) {
    text += "," + CsvField(target);
  }
  for (const std::string& target : classes.empty() ? targets : std::vector<std::string>()) {
    text += "," + CsvField(targets.size() == 1 ? "predicted" : "predicted_" + target);
  }
  text += classes.empty() ? "" : ",predicted";
  for (const std::string& name : classes) {
    text += "," + CsvField("p_" + name);
  }
  text += '\n';
  for (const Row& row : rows) {
    const bool values = classes.empty();
    text += fmt::format("{},{},", row.row, row.fold > 0 ? std::to_string(row.fold) : "");
    text += values ? (row.fold > 0 ? row.truth : std::string(targets.size() - 1, ','))
                   : CsvField(row.truth) + "," + CsvField(row.predicted);
    for (const double number : row.numbers) {
      text += std::isnan(number) ? "," : "," + AnswerText(number);
    }
    text += '\n';
  }
  return text;
}

}  // namespace lamina
