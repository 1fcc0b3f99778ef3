// RunDocument: the settings being edited, the data they are for, what is wrong with them and what the run would be.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "background.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/train/run_plan.h"
#include "lamina/train/settings.h"
#include "problem.h"

namespace lamina::gui {

/// Takes out what belongs to the columns and rows of one data set.
void ForgetColumns(TrainSettings& settings);

/// A data file as read: shared with the threads that use it, never changed.
struct LoadedData {
  QString path;
  RawData raw;
  std::vector<std::string> text_columns;  // as they were read
  std::vector<ColumnSummary> summaries;   // of raw.main.train
};

class RunDocument : public QObject {
  Q_OBJECT
 public:
  explicit RunDocument(Background& background, QObject* parent = nullptr);

  const TrainSettings& settings() const { return settings_; }
  /// Sets one setting from what was typed; a text that is not of its type stays a problem of the setting.
  void SetText(const std::string& name, const QString& text);
  void Edit(const std::function<void(TrainSettings&)>& change);
  /// As Edit, and what was typed wrongly anywhere is forgotten.
  void Replace(const std::function<void(TrainSettings&)>& change);

  /// What is wrong with a setting; "" where nothing is.
  QString ProblemOf(const std::string& name) const;
  /// Settings with a problem, in order, with its text.
  const std::map<std::string, QString>& problems() const { return problems_; }

  /// Reads `path` in the background; then DataChanged or LoadFailed. The columns' uses start afresh for another path.
  /// Read again when a setting of reading changes.
  void Load(const QString& path);
  bool loading() const { return loading_; }
  std::shared_ptr<const LoadedData> data() const { return data_; }

  /// Null while unknown.
  std::shared_ptr<const RunPlan> plan() const { return plan_; }
  /// Why training cannot start; "" where it can.
  QString StartBlocker() const;

 Q_SIGNALS:
  void SettingsChanged();
  void DataChanged();
  void LoadFailed(const lamina::gui::Problem& problem);
  void PlanChanged();

 private:
  void Changed();
  void Check();
  void Plan();
  void Loaded(std::shared_ptr<const LoadedData> data, const std::optional<Problem>& problem);

  Background& background_;
  TrainSettings settings_;
  std::map<std::string, QString> typed_;  // texts that could not be taken over: what is wrong with them
  std::map<std::string, QString> problems_;
  std::shared_ptr<const LoadedData> data_;
  std::shared_ptr<const RunPlan> plan_;
  std::optional<Problem> plan_problem_;
  std::optional<Problem> reread_problem_;  // the open file cannot be read as the settings say now
  QTimer plan_timer_;                      // waits for the end of typing
  QTimer load_timer_;
  QString path_;  // of the last Load()
  std::string reading_;
  int generation_ = 0;
  bool planning_ = false;
  bool loading_ = false;
};

}  // namespace lamina::gui
