// RunDocument: the settings being edited, the data they are for, what is wrong with them and what the run would be.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "background.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/run/run_plan.h"
#include "lamina/settings/settings.h"
#include "problem.h"
#include "run_preview.h"

namespace lamina::gui {

/// Takes out what belongs to the columns and rows of one data set.
void ForgetColumns(TrainSettings& settings);
/// What remains of settings for another data set: those of the machine.
TrainSettings ForOtherData(TrainSettings settings);

/// A data file as read: shared with the threads that use it, never changed.
struct LoadedData {
  QString path;
  RawData raw;
  TrainSettings settings;                // it was read with
  std::vector<ColumnSummary> summaries;  // of raw.main.train
};

class RunDocument : public QObject {
  Q_OBJECT
 public:
  explicit RunDocument(Background& background, QObject* parent = nullptr);

  const TrainSettings& settings() const { return settings_; }
  /// Sets one setting from what was typed; a text that is not of its type stays a problem of the setting.
  void SetText(const std::string& name, const QString& text);
  /// Changes that follow one another and have the same name (that is not empty) are undone at once.
  void Edit(const std::function<void(TrainSettings&)>& change, const std::string& name = "");
  /// As Edit, and what was typed wrongly anywhere is forgotten.
  void Replace(const std::function<void(TrainSettings&)>& change);
  /// The first settings, which cannot be undone.
  void Begin(const TrainSettings& settings);
  /// Back to the defaults: these settings, or all but the files. Also what was typed wrongly there.
  void Reset(const std::vector<std::string>& names);
  void ResetAll();

  /// Whether the pages show all settings, or only those that most people set.
  bool shows_all() const { return shows_all_; }
  void ShowAll(bool all);

  bool can_undo() const { return !undo_.empty(); }
  bool can_redo() const { return !redo_.empty(); }
  void Undo() { Step(undo_, redo_); }
  void Redo() { Step(redo_, undo_); }

  /// What is wrong with a setting; "" where nothing is.
  QString ProblemOf(const std::string& name) const;
  /// Settings with a problem, in order, with its text.
  const std::map<std::string, QString>& problems() const { return problems_; }

  /// Reads `path` in the background; then DataChanged or LoadFailed. Data is read again when a setting of reading
  /// changes. Other data begin with `given` settings, else with the defaults but for the machine's. Where none were
  /// open, they keep the settings except those of columns.
  void Load(const QString& path, std::optional<TrainSettings> given = {});
  bool loading() const { return loading_; }
  std::shared_ptr<const LoadedData> data() const { return data_; }

  /// Whether nothing but the check of the settings, which takes a moment, keeps a run from starting.
  bool checking() const { return data_ != nullptr && !loading_ && problems_.empty() && !reread_problem_ && planning_; }
  /// Null while unknown.
  std::shared_ptr<const RunPreview> plan() const { return plan_; }
  /// Why training cannot start; "" where it can.
  QString StartBlocker() const;

 Q_SIGNALS:
  void SettingsChanged();
  void DataChanged();
  void LoadFailed(const lamina::gui::Problem& problem);
  /// Other data are open, and settings that had been changed are at their defaults again; Undo() brings them back.
  void StartedAfresh();
  void PlanChanged();
  void LevelChanged();

 private:
  void Changed();
  void Check();
  void Plan();
  void Loaded(std::shared_ptr<const LoadedData> data, bool project, const std::optional<Problem>& problem);
  void TakeSettingsOf(const LoadedData& data, bool project, bool first);
  /// Keeps `before` for Undo(), if anything has changed since.
  void Record(const TrainSettings& before, const std::string& name);
  void Step(std::vector<TrainSettings>& from, std::vector<TrainSettings>& to);

  Background& background_;
  TrainSettings settings_;
  std::map<std::string, QString> typed_;  // texts that could not be taken over: what is wrong with them
  std::map<std::string, QString> problems_;
  std::shared_ptr<const LoadedData> data_;
  std::shared_ptr<const RunPreview> plan_;
  std::shared_ptr<const RowCounts> counts_;  // of the last plan of data_
  std::vector<TrainSettings> undo_;
  std::vector<TrainSettings> redo_;
  std::string last_edit_;  // its name
  std::optional<Problem> plan_problem_;
  std::optional<Problem> reread_problem_;  // the open file cannot be read as the settings say now
  QTimer plan_timer_;                      // waits for the end of typing
  QTimer load_timer_;
  QString path_;                        // of the last Load()
  std::optional<DataSources> reading_;  // of the last Load()
  int generation_ = 0;
  bool planning_ = false;
  bool loading_ = false;
  bool shows_all_ = false;
};

}  // namespace lamina::gui
