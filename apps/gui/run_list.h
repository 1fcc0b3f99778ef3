// RunList: the runs that ended, with what they were asked for, how they went and how good they are.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "train_worker.h"

namespace lamina::gui {

struct KeptRun {
  QString name;
  TrainSettings settings;  // as given
  QString result;          // "accuracy 97.22 %"
  QString rows;            // that the result is of: "360 test rows"
  History history;
  bool overlaid = false;  // its curves are laid over those of the present run
  /// With the model, which is in the memory only: null for a run of a project, and for one long ago.
  std::shared_ptr<const TrainOutcome> outcome;
};

/// In few words, for a list.
QString ShortResult(const Evaluation& evaluation);

class RunList : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  static constexpr int kKeptModels = 20;

  const std::vector<KeptRun>& runs() const { return runs_; }
  /// One that goes on with a stopped run takes its place.
  void Add(const std::shared_ptr<const TrainOutcome>& outcome);
  void Set(std::vector<KeptRun> runs);
  void Rename(size_t run, const QString& name);
  void Overlay(size_t run, bool overlaid);
  void Remove(size_t run);
  /// Whether the model is one that the list can give back.
  bool Holds(const std::shared_ptr<const Model>& model) const;

  /// The settings by which the run differs from the other ones, of a single run from the defaults: "Epochs 40, Batch
  /// 16".
  QString Differences(size_t run) const;

 Q_SIGNALS:
  void Changed();

 private:
  std::vector<KeptRun> runs_;
};

/// For a project file, without models.
nlohmann::json ToJson(const KeptRun& run);
/// Throws nlohmann::json::exception and Error.
KeptRun KeptRunFromJson(const nlohmann::json& json);

}  // namespace lamina::gui
