// The door of the window: window MODEL FILE CELL... prints what its page Model says to the rows of FILE, and to rows of
// these cells that are typed, as JSON. Nothing is shown: QT_QPA_PLATFORM=offscreen.
#include <QApplication>
#include <QComboBox>
#include <QEventLoop>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QSettings>
#include <QTableWidget>
#include <QTemporaryDir>
#include <cstdio>

#include "main_window.h"
#include "model_page.h"
#include "predict_panel.h"
#include "typed_panel.h"

namespace {

using namespace lamina;
using namespace lamina::gui;

QJsonObject AnswersOfFile(MainWindow& window, const QString& path) {
  PredictPanel& panel = window.model_page().predict();
  QEventLoop loop;
  QJsonObject said;
  QObject::connect(&panel, &PredictPanel::Answered, &loop, &QEventLoop::quit);
  QObject::connect(&panel, &PredictPanel::Failed, &loop, [&](const lamina::gui::Problem& problem) {
    said[QStringLiteral("error")] = problem.Text();
    loop.quit();
  });
  panel.Predict(path);
  loop.exec();
  if (!said.isEmpty()) {
    return said;
  }
  const FilePrediction& prediction = *panel.prediction();
  QJsonArray outputs;
  QJsonArray labels;
  for (int64_t i = 0; i < prediction.answers.outputs.rows(); ++i) {
    QJsonArray row;
    for (int64_t j = 0; j < prediction.answers.outputs.cols(); ++j) {
      row << QString::number(prediction.answers.outputs.Row<double>(i)[j], 'g', 17);
    }
    outputs << row;
    labels << prediction.Text(i);
  }
  QJsonArray notes;
  for (const std::string& note : prediction.answers.Notes()) {
    notes << FromText(note);
  }
  return {{QStringLiteral("outputs"), outputs}, {QStringLiteral("labels"), labels}, {QStringLiteral("notes"), notes}};
}

// As a person fills the table in, cell by cell.
void Type(QTableWidget& table, const QStringList& cells) {
  for (int i = 0; i < table.rowCount(); ++i) {
    if (auto* list = qobject_cast<QComboBox*>(table.cellWidget(i, 1))) {
      list->setCurrentText(cells[i]);
    } else {
      table.item(i, 1)->setText(cells[i]);
    }
  }
}

QJsonArray AnswersTyped(MainWindow& window, const QStringList& cells) {
  auto* panel = window.findChild<TypedPanel*>();
  auto* table = panel->findChild<QTableWidget*>(QStringLiteral("typed.values"));
  QEventLoop loop;
  QObject::connect(panel, &TypedPanel::Answered, &loop, &QEventLoop::quit);
  QJsonArray rows;
  QStringList before;
  for (qsizetype at = 0; at + table->rowCount() <= cells.size(); at += table->rowCount()) {
    const QStringList row = cells.mid(at, table->rowCount());
    if (row != before) {  // what is not changed is not answered again
      Type(*table, row);
      loop.exec();
    }
    before = row;
    rows << QJsonObject{
        {QStringLiteral("answer"), panel->findChild<QLabel*>(QStringLiteral("typed.answer"))->text()},
        {QStringLiteral("problem"), panel->findChild<QLabel*>(QStringLiteral("typed.problem"))->text()}};
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("lamina-gui"));
  QApplication::setOrganizationName(QStringLiteral("lamina-test"));
  const QTemporaryDir folder;
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
  const QStringList arguments = QApplication::arguments();
  if (arguments.size() < 4) {
    std::fputs("usage: window MODEL FILE CELL...\n", stderr);
    return 2;
  }
  MainWindow window;
  window.ask_to_save = [](const QString&) { return SaveChoice::kDiscard; };
  window.show();
  QEventLoop opened;
  QObject::connect(&window.store(), &ModelStore::Changed, &opened, &QEventLoop::quit);
  const QString model = folder.filePath(QStringLiteral("model.safetensors"));  // the window knows models by their name
  if (!QFile::copy(arguments[1], model)) {
    std::fputs("cannot copy the model\n", stderr);
    return 1;
  }
  window.files().Open(model);
  if (window.store().model() == nullptr) {
    opened.exec();
  }
  const QJsonObject said{{QStringLiteral("file"), AnswersOfFile(window, arguments[2])},
                         {QStringLiteral("typed"), AnswersTyped(window, arguments.mid(3))}};
  std::printf("%s\n", QJsonDocument(said).toJson(QJsonDocument::Compact).constData());
  return 0;
}
