// Files: dialogs, recent ones.
#include "file_actions.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "curves_view.h"
#include "data_page.h"
#include "distill_work.h"
#include "lamina/base/file.h"
#include "lamina/data/files/reader.h"
#include "lamina/model/c_source/c_source.h"
#include "lamina/model/html_page/html_page.h"
#include "lamina/model/onnx_export.h"
#include "lamina/settings/meanings.h"
#include "plain_text.h"
#include "predict_panel.h"
#include "project.h"

namespace lamina::gui {
namespace {

constexpr qsizetype kRecentFiles = 8;

QString RecentKey() { return QStringLiteral("recent"); }
QString FolderKey() { return QStringLiteral("folder"); }

bool IsModel(const QString& path) {
  return path.endsWith(QStringLiteral(".safetensors")) || path.endsWith(QStringLiteral(".checkpoint"));
}

// Examples belong to the installation, where nobody saves.
bool IsExample(const QString& path) { return path == ExamplePath(QFileInfo(path).fileName()); }

// "digits" for digits.csv.gz.
QString StemOf(const QString& path) { return QFileInfo(path).fileName().section(QLatin1Char('.'), 0, 0); }

// With the suffix of the chosen filter, where the typed name has none.
QString WithSuffix(QString path, const QString& filter) {
  if (!path.isEmpty() && QFileInfo(path).suffix().isEmpty()) {
    const qsizetype star = filter.indexOf(QStringLiteral("*."));
    path += filter.mid(star + 1, filter.indexOf(QLatin1Char(')'), star) - star - 1).section(QLatin1Char(' '), 0, 0);
  }
  return path;
}

// Beside the project, with its name; a number more where a file is there that is not the model of this project.
QString ModelPathBeside(const QString& project) {
  const QFileInfo file(project);
  QString own;
  Attempt([&] { own = ReadProject(project).model; });  // of the project that is replaced
  const auto name = [&](int number) {
    const QString behind = number == 1 ? QString() : QStringLiteral("-%1").arg(number);
    return file.dir().filePath(file.completeBaseName() + behind + QStringLiteral(".safetensors"));
  };
  int number = 1;
  while (QFileInfo::exists(name(number)) && QFileInfo(name(number)) != QFileInfo(own)) {
    ++number;
  }
  return name(number);
}

QString RemovedNote(const QString& removed) {
  return removed.isEmpty() ? QString() : QObject::tr("; it was trained with what is gone: %1").arg(removed);
}

}  // namespace

FileActions::FileActions(RunDocument& document, ModelStore& store, RunList& runs, QWidget* window)
    : QObject(window), document_(document), store_(store), runs_(runs), window_(window) {
  ask_where_to_save = [this](const QString& title, const QString& name, const QString& filter) {
    return AskWithDialog(title, name, filter);
  };
  connect(&document_, &RunDocument::LoadFailed, this, [this] { disconnect(opened_); });
  connect(&document_, &RunDocument::DataChanged, this, [this] {
    if (const QString& path = document_.data()->path; !IsExample(path)) {
      Remember(path);
    }
  });
}

bool FileActions::Try(const std::function<void()>& work, const QString& note) {
  const auto problem = Attempt(work);
  if (problem) {
    Q_EMIT Failed(*problem);
  } else {
    Q_EMIT Done(note);
  }
  return !problem;
}

void FileActions::Open(const QString& path) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  if (absolute.endsWith(QLatin1String(kProjectSuffix))) {
    OpenProject(absolute);
  } else if (IsModel(absolute)) {
    OpenModel(absolute);
  } else {
    document_.Load(absolute);
  }
}

void FileActions::OpenModel(const QString& path) {
  if (!may_replace_model()) {
    return;
  }
  if (const auto problem = Attempt([&] { store_.Open(path); })) {
    Q_EMIT Failed(*problem);
    return;
  }
  Q_EMIT Done(tr("Opened %1").arg(path) + RemovedNote(store_.removed()));
  Remember(path);
  Q_EMIT ModelOpened();
}

void FileActions::OpenProject(const QString& path) {
  if (!may_replace_model()) {
    return;
  }
  Project project;
  const auto problem = Attempt([&] {
    project = ReadProject(path);
    if (!project.model.isEmpty()) {
      store_.Open(project.model, project.history);
    }
  });
  if (problem) {
    Q_EMIT Failed(*problem);
    return;
  }
  QString note = tr("Opened the project %1").arg(path);
  if (!project.left_out.isEmpty()) {
    note += tr("; left out, as a file does not decide what is written: %1").arg(project.left_out);
  }
  note += RemovedNote(project.removed);
  Remember(path);
  runs_.Set(std::move(project.runs));
  disconnect(opened_);
  if (project.settings.data.empty()) {
    Q_EMIT Done(note);
  } else {  // said behind what the window does for new data: it forgets what was said of others
    opened_ = connect(
        &document_, &RunDocument::DataChanged, this, [this, note] { Q_EMIT Done(note); }, Qt::SingleShotConnection);
    document_.Load(FromText(project.settings.data), project.settings);
  }
  Q_EMIT ProjectOpened();
}

void FileActions::OpenExample(const QString& name) {
  const QString path = ExamplePath(name);
  if (path.isEmpty()) {
    Q_EMIT Failed(
        {tr("The example %1 is not installed").arg(name), tr("It belongs into share/lamina/data beside the program.")});
    return;
  }
  document_.Load(path);
}

QString FileActions::Folder() const {
  const QString last = QSettings().value(FolderKey()).toString();
  return !last.isEmpty() && QDir(last).exists() ? last : QDir::currentPath();
}

QString FileActions::AskOpen(const QString& title, const QString& filter) {
  return QFileDialog::getOpenFileName(window_, title, Folder(), filter);
}

QString FileActions::AskWithDialog(const QString& title, const QString& name, const QString& filter) {
  QString chosen = filter.section(QStringLiteral(";;"), 0, 0);
  const QDir folder(Folder());
  return WithSuffix(QFileDialog::getSaveFileName(window_, title, folder.filePath(name), filter, &chosen), chosen);
}

QString FileActions::DataFilter() {
  QStringList all;
  QStringList apart;
  for (const FormatRow& format : FormatTable()) {
    QStringList patterns;
    for (const QString& ending : FromText(format.endings).split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
      patterns << QLatin1Char('*') + ending << QLatin1Char('*') + ending + QStringLiteral(".gz");
    }
    if (!patterns.isEmpty()) {
      apart << QStringLiteral("%1 (%2)").arg(FromText(format.name), patterns.join(QLatin1Char(' ')));
      all << patterns;
    }
  }
  return (QStringList{tr("Data (%1)").arg(all.join(QLatin1Char(' ')))} << apart << tr("All files (*)"))
      .join(QStringLiteral(";;"));
}

void FileActions::AskOpenData() {
  const QString path = AskOpen(tr("Open data"), DataFilter());
  if (!path.isEmpty()) {
    document_.Load(path);
  }
}

void FileActions::AskOpenFolder() {
  const QString path = QFileDialog::getExistingDirectory(window_, tr("Open a folder of IDX files"), Folder());
  if (!path.isEmpty()) {
    document_.Load(path);
  }
}

void FileActions::AskOpenModel() {
  const QString path = AskOpen(tr("Open model"), tr("Models (*.safetensors *.checkpoint);;All files (*)"));
  if (!path.isEmpty()) {
    OpenModel(path);
  }
}

void FileActions::AskOpenProject() {
  const QString path = AskOpen(tr("Open project"), tr("Projects (*%1)").arg(QLatin1String(kProjectSuffix)));
  if (!path.isEmpty()) {
    OpenProject(path);
  }
}

void FileActions::AskSaveProject() {
  const QString stem = StemOf(FromText(document_.settings().data));
  const QString path =
      ask_where_to_save(tr("Save project"), (stem.isEmpty() ? tr("project") : stem) + QLatin1String(kProjectSuffix),
                        tr("Projects (*%1)").arg(QLatin1String(kProjectSuffix)));
  if (!path.isEmpty()) {
    SaveProjectTo(path);
  }
}

bool FileActions::SaveProjectTo(const QString& path) {
  const bool saved = Try(
      [&] {
        if (store_.unsaved()) {
          store_.Save(ModelPathBeside(path));
        }
        WriteProject(path, {document_.settings(), store_.path(), store_.history(), runs_.runs()});
      },
      tr("Saved the project as %1").arg(path));
  if (saved) {
    Remember(path);
  }
  return saved;
}

bool FileActions::AskSaveModel() {
  if (store_.model() == nullptr) {
    return false;
  }
  const QString stem = StemOf(FromText(store_.settings().data));
  const QString name = !store_.path().isEmpty() ? store_.path() : stem + QStringLiteral(".safetensors");
  const QString path = ask_where_to_save(tr("Save model"), name, tr("Models (*.safetensors)"));
  return !path.isEmpty() && SaveModelTo(path);
}

bool FileActions::SaveModelTo(const QString& path) {
  const bool saved = Try([&] { store_.Save(path); }, tr("Saved the model as %1").arg(path));
  if (saved) {
    Remember(path);
  }
  return saved;
}

void FileActions::AskPredict(PredictPanel& panel) {
  const QString path = AskOpen(tr("Predict a file"), DataFilter());
  if (!path.isEmpty()) {
    panel.Predict(path);
  }
}

void FileActions::AskSavePredictions(PredictPanel& panel) {
  const QString path = ask_where_to_save(tr("Save predictions"), QStringLiteral("predictions.csv"), tr("CSV (*.csv)"));
  if (!path.isEmpty()) {
    Try([&] { panel.Save(path); }, tr("Saved the predictions as %1").arg(path));
  }
}

void FileActions::AskSaveHistory() {
  const QString path =
      ask_where_to_save(tr("Save history"), QStringLiteral("history.csv"), tr("CSV (*.csv);;JSON (*.json)"));
  if (!path.isEmpty()) {
    SaveHistoryTo(path);
  }
}

bool FileActions::SaveHistoryTo(const QString& path) {
  const History& history = store_.history();
  const bool json = path.endsWith(QStringLiteral(".json"), Qt::CaseInsensitive);
  return Try([&] { WriteFileAtomically(path.toStdString(), json ? history.ToJson().dump(2) + "\n" : history.ToCsv()); },
             tr("Saved the history as %1").arg(path));
}

void FileActions::AskExport() {
  if (store_.model() == nullptr) {
    return;
  }
  const QString path = ask_where_to_save(tr("Export"), QStringLiteral("model.onnx"),
                                         tr("ONNX (*.onnx);;C source (*.c);;Page for a browser (*.html)"));
  if (!path.isEmpty()) {
    ExportTo(path);
  }
}

bool FileActions::ExportTo(const QString& path) {
  return Try(
      [&] {
        const std::filesystem::path file(path.toStdString());
        if (file.extension() == ".c") {
          WriteCSource(*store_.model(), {.name = file.stem().string()}, file.parent_path().string());
        } else if (file.extension() == ".html") {
          WriteFileAtomically(file.string(), ToHtml(*store_.model(), {.title = file.stem().string()}));
        } else {
          WriteFileAtomically(file.string(), ToOnnx(*store_.model()));
        }
      },
      tr("Exported the model as %1").arg(path));
}

void FileActions::AskDistill(Background& background) {
  if (store_.model() == nullptr) {
    return;
  }
  const auto data = document_.data();
  const QString rows = data != nullptr ? data->path : AskOpen(tr("Rows to distill by"), DataFilter());
  const QString path = rows.isEmpty()
                           ? QString()
                           : ask_where_to_save(tr("Distill into one network"), QStringLiteral("distilled.safetensors"),
                                               tr("Model (*.safetensors)"));
  if (!path.isEmpty()) {
    DistillTo(path, rows, background);
  }
}

void FileActions::DistillTo(const QString& path, const QString& rows, Background& background) {
  ReadOptions options;
  if (const auto data = document_.data(); data != nullptr && data->path == rows) {
    options = ReadOptionsFrom(data->settings);
  }
  Q_EMIT Done(tr("One network learns what the model answers. It will be saved as %1.").arg(path));
  background.Run(DistillWork(
      {path, rows, options, store_.model(), stop_distilling_}, [this](const QString& note) { Q_EMIT Done(note); },
      [this](const Problem& problem) { Q_EMIT Failed(problem); }));
}

void FileActions::AskSaveCurves(CurvesView& curves) {
  const QString path = ask_where_to_save(tr("Save curves"), QStringLiteral("curves.png"),
                                         tr("PNG picture (*.png);;SVG picture (*.svg);;CSV table (*.csv)"));
  if (!path.isEmpty()) {
    SaveCurvesTo(curves, path);
  }
}

bool FileActions::SaveCurvesTo(CurvesView& curves, const QString& path) {
  return Try(
      [&] {
        if (path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)) {
          History history;
          history.epochs = curves.epochs();
          WriteFileAtomically(path.toStdString(), history.ToCsv());
        } else {
          curves.SavePicture(path);
        }
      },
      tr("Saved the curves as %1").arg(path));
}

QStringList FileActions::recent() const { return QSettings().value(RecentKey()).toStringList(); }

void FileActions::Remember(const QString& path) {
  QStringList files = recent();
  files.removeAll(path);
  files.prepend(path);
  QSettings settings;
  settings.setValue(RecentKey(), QStringList(files.mid(0, kRecentFiles)));
  settings.setValue(FolderKey(), QFileInfo(path).absolutePath());
}

void FileActions::FillRecent(QMenu& menu) {
  menu.clear();
  for (const QString& path : recent()) {
    menu.addAction(ActionText(QDir::toNativeSeparators(path)), this, [this, path] { Open(path); });
  }
  menu.setEnabled(!menu.isEmpty());
}

}  // namespace lamina::gui
