// ModelStore: the model at hand, where it came from and whether it is saved.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "lamina/model/model.h"
#include "lamina/search/search_settings.h"
#include "lamina/settings/settings.h"
#include "lamina/train/history.h"

namespace lamina::gui {

struct TrainOutcome;

/// RemovedSetting::Text() of what stored settings ask for; "" where all of it is still there.
QString RemovedText(const nlohmann::json& settings);

class ModelStore : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  std::shared_ptr<const Model> model() const { return model_; }
  const QString& path() const { return path_; }  // "" for one that was never saved
  bool unsaved() const { return unsaved_; }
  /// The history of the run that made it here; without epochs for a model from a file.
  const History& history() const { return history_; }
  /// The settings it was trained with, as far as known.
  const TrainSettings& settings() const { return settings_; }

  void Take(const TrainOutcome& outcome);
  /// Both throw Error and then change nothing. Neither emits Changed() before it is done.
  void Open(const QString& path, const History& history = {});
  void Save(const QString& path);

  /// What the open file's run was trained with that this version does not have; "" for nothing.
  const QString& removed() const { return removed_; }

  /// The model in words.
  QString Description() const;
  /// The command that repeats the run or the search, writing `model`; "" where it is not known.
  QString Command() const;

 Q_SIGNALS:
  void Changed();

 private:
  std::shared_ptr<const Model> model_;
  QString path_;
  bool unsaved_ = false;
  History history_;
  TrainSettings settings_;
  QString removed_;
  std::optional<SearchSettings> search_;  // that the model is the ensemble of
};

}  // namespace lamina::gui
