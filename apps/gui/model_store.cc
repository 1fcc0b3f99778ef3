// The model at hand.
#include "model_store.h"

#include <nlohmann/json.hpp>

#include "lamina/base/text.h"
#include "lamina/run/command_line.h"
#include "lamina/settings/removed_settings.h"
#include "number_text.h"
#include "problem.h"
#include "train_worker.h"

namespace lamina::gui {
namespace {

constexpr qsizetype kShownNames = 40;

QString Joined(const std::vector<std::string>& names) {
  QStringList list;
  for (const std::string& name : names) {
    if (list.size() == kShownNames) {
      list << QObject::tr("… and %1 more").arg(std::ssize(names) - kShownNames);
      break;
    }
    list << FromText(name);
  }
  return list.join(QStringLiteral(", "));
}

QString LayersText(const Network& network) {
  QString text;
  int number = 1;
  for (const LayerSpec& layer : network.layers()) {
    text += QObject::tr("  layer %1: %2 → %3 neurons, %4\n")
                .arg(number++)
                .arg(FromText(WithThousands(layer.inputs)), FromText(WithThousands(layer.outputs)),
                     FromText(NeuronText(layer)));
  }
  return text;
}

QString DataText(const Preprocessor& preprocessor) {
  const bool classes = preprocessor.targets().task() == Task::kClassification;
  std::vector<std::string> columns;
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    columns.push_back(column.name);
  }
  QString text = QObject::tr("Predicts: %1\n").arg(Joined(preprocessor.targets().names()));
  if (classes) {
    text += QObject::tr("Classes (%1): %2\n")
                .arg(preprocessor.targets().class_names().size())
                .arg(Joined(preprocessor.targets().class_names()));
  }
  return text + QObject::tr("From columns (%1): %2\n").arg(columns.size()).arg(Joined(columns));
}

// What is stored about the training; any part may be missing in a model made through the library.
QString TrainingText(const nlohmann::json& training) {
  QString text;
  Attempt([&] {
    if (training.contains("epochs")) {
      text += QObject::tr("Trained for %1, best epoch %2\n")
                  .arg(CountText(training.at("epochs").get<int64_t>(), QObject::tr("epoch"), QObject::tr("epochs")))
                  .arg(training.value("best_epoch", int64_t{0}));
    }
    const nlohmann::json test = training.value("test", nlohmann::json::object());
    if (test.contains("accuracy")) {
      text += QObject::tr("Test accuracy: %1 %\n").arg(100 * test.at("accuracy").get<double>(), 0, 'f', 2);
    } else if (test.contains("rmse")) {
      text += QObject::tr("Test RMSE: %1\n").arg(test.at("rmse").get<double>());
    }
    const nlohmann::json settings = training.value("settings", nlohmann::json::object());
    if (settings.contains("data")) {
      text += QObject::tr("Data: %1\n").arg(FromText(settings.at("data").get<std::string>()));
    }
  });
  return text;
}

}  // namespace

QString RemovedText(const nlohmann::json& settings) {
  QStringList texts;
  for (const RemovedSetting* row : RemovedIn(settings)) {
    texts << FromText(row->Text());
  }
  return texts.join(QStringLiteral("; "));
}

void ModelStore::Take(const TrainOutcome& outcome) {
  model_ = outcome.model;
  path_.clear();
  unsaved_ = true;
  removed_.clear();
  history_ = outcome.history;
  settings_ = outcome.settings;
  search_ = outcome.search;
  Q_EMIT Changed();
}

void ModelStore::Open(const QString& path, const History& history) {
  auto model = std::make_shared<Model>(LoadModel(path.toStdString()));
  TrainSettings settings;
  QString removed;
  if (model->training.is_object() && model->training.contains("settings")) {
    settings = TrainSettingsFromJson(model->training.at("settings"));
    removed = RemovedText(model->training.at("settings"));
    ResetSettings(settings, [](const auto& row) { return row.DecidesWriting(); });  // the window's to say
  }
  model_ = std::move(model);
  path_ = path;
  unsaved_ = false;
  history_ = history;
  settings_ = settings;
  removed_ = removed;
  search_.reset();
  Q_EMIT Changed();
}

void ModelStore::Save(const QString& path) {
  SaveModel(path.toStdString(), *model_);
  path_ = path;
  unsaved_ = false;
  Q_EMIT Changed();
}

QString ModelStore::Description() const {
  if (model_ == nullptr) {
    return tr("There is no model yet: train one, or open a file.");
  }
  const Network& network = model_->network;
  QString text = path_.isEmpty() ? tr("Trained here, not saved yet\n") : tr("File: %1\n").arg(path_);
  text += tr("Network %1, %2 parameters in %3, loss %4\n")
              .arg(FromText(model_->ShapeText()), FromText(WithThousands(model_->parameter_count())),
                   FromText(DTypeName(network.dtype())), FromText(model_->loss.Text()));
  if (model_->weights != WeightStorage::kExact) {
    text += tr("Weights of products kept in %1\n").arg(FromText(WeightStorageName(model_->weights)));
  }
  text += LayersText(network);
  if (model_->preprocessor.inputs().count() > 0) {
    text += DataText(model_->preprocessor);
  }
  return text + TrainingText(model_->training);
}

QString ModelStore::Command() const {
  const std::string path = path_.isEmpty() ? "model.safetensors" : path_.toStdString();
  if (search_) {
    SearchSettings search = *search_;
    search.train.model = path;
    return FromText(SearchCommandLine(search));
  }
  if (settings_.data.empty() || model_->training.contains("ensemble")) {  // the search of a file's is not in the file
    return {};
  }
  TrainSettings settings = settings_;
  settings.model = path;
  return FromText(TrainCommandLine(settings, model_->training));
}

}  // namespace lamina::gui
