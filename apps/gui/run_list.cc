// Keeping and comparing runs.
#include "run_list.h"

#include <QFileInfo>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "labels.h"
#include "lamina/base/text.h"
#include "lamina/settings/settings_text.h"
#include "number_text.h"
#include "problem.h"

namespace lamina::gui {
namespace {

QString ValueOf(const TrainSettings& settings, const Setting<TrainSettings>& row) {
  const QString text = FromText(SettingText(settings, row.name));
  if (row.IsFile()) {
    return QFileInfo(text).fileName();
  }
  return text.isEmpty() ? QObject::tr("auto") : text;
}

QString RowsOf(const TrainOutcome& outcome) {
  const QString count = FromText(WithThousands(outcome.Judgement()->samples));
  return outcome.out_of_fold ? QObject::tr("%1 rows, %2 folds").arg(count).arg(outcome.fold_count)
                             : QObject::tr("%1 %2 rows").arg(count, outcome.evaluated_on);
}

}  // namespace

QString ShortResult(const Evaluation& evaluation) {
  if (evaluation.classification) {
    return QObject::tr("accuracy %1").arg(PercentText(evaluation.classification->accuracy));
  }
  if (evaluation.regression.empty()) {
    return {};
  }
  const RegressionMetrics& first = evaluation.regression.front();
  return QObject::tr("RMSE %1, R² %2").arg(NumberText(first.rmse), NumberText(first.r2));
}

void RunList::Add(const std::shared_ptr<const TrainOutcome>& outcome) {
  const bool again = outcome->went_on && !runs_.empty();
  int number = 1;
  while (std::any_of(runs_.begin(), runs_.end(),
                     [&](const KeptRun& run) { return run.name == tr("Run %1").arg(number); })) {
    ++number;
  }
  KeptRun run;
  run.name = again             ? runs_.back().name
             : outcome->search ? tr("Run %1, a search").arg(number)
                               : tr("Run %1").arg(number);
  run.settings = outcome->search ? outcome->search->train : outcome->given;
  if (outcome->Judgement() != nullptr) {
    run.result = ShortResult(*outcome->Judgement());
    run.rows = RowsOf(*outcome);
  }
  run.history = outcome->history;
  run.outcome = outcome;
  if (again) {
    runs_.back() = std::move(run);
  } else {
    runs_.push_back(std::move(run));
  }
  auto models = std::count_if(runs_.begin(), runs_.end(), [](const KeptRun& kept) { return kept.outcome != nullptr; });
  for (auto oldest = runs_.begin(); models > kKeptModels; ++oldest) {
    if (oldest->outcome != nullptr) {
      oldest->outcome = nullptr;
      --models;
    }
  }
  Q_EMIT Changed();
}

void RunList::Set(std::vector<KeptRun> runs) {
  runs_ = std::move(runs);
  Q_EMIT Changed();
}

void RunList::Rename(size_t run, const QString& name) {
  if (const QString plain = name.trimmed(); !plain.isEmpty() && plain != runs_[run].name) {
    runs_[run].name = plain;
    Q_EMIT Changed();
  }
}

void RunList::Overlay(size_t run, bool overlaid) {
  if (runs_[run].overlaid != overlaid) {
    runs_[run].overlaid = overlaid;
    Q_EMIT Changed();
  }
}

void RunList::Remove(size_t run) {
  runs_.erase(runs_.begin() + static_cast<ptrdiff_t>(run));
  Q_EMIT Changed();
}

bool RunList::Holds(const std::shared_ptr<const Model>& model) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const KeptRun& run) { return run.outcome != nullptr && run.outcome->model == model; });
}

QString RunList::Differences(size_t run) const {
  const TrainSettings defaults;
  QStringList parts;
  for (const auto& row : SettingRows<TrainSettings>()) {
    const QString value = ValueOf(runs_[run].settings, row);
    const bool differs = runs_.size() == 1 ? value != ValueOf(defaults, row) && !row.IsFile()
                                           : std::any_of(runs_.begin(), runs_.end(), [&](const KeptRun& other) {
                                               return ValueOf(other.settings, row) != value;
                                             });
    if (differs) {
      parts << PlainLabelOf(row.name) + QLatin1Char(' ') + value;
    }
  }
  return parts.isEmpty() ? (runs_.size() == 1 ? tr("all as by default") : tr("nothing"))
                         : parts.join(QStringLiteral(", "));
}

nlohmann::json ToJson(const KeptRun& run) {
  return {{"name", run.name.toStdString()}, {"settings", ToJson(run.settings)}, {"result", run.result.toStdString()},
          {"rows", run.rows.toStdString()}, {"overlaid", run.overlaid},         {"history", run.history.ToJson()}};
}

KeptRun KeptRunFromJson(const nlohmann::json& json) {
  KeptRun run;
  run.name = FromText(json.at("name").get<std::string>());
  run.settings = TrainSettingsFromJson(json.at("settings"));
  run.result = FromText(json.at("result").get<std::string>());
  run.rows = FromText(json.at("rows").get<std::string>());
  run.overlaid = json.at("overlaid").get<bool>();
  run.history = History::FromJson(json.at("history"));
  return run;
}

}  // namespace lamina::gui
