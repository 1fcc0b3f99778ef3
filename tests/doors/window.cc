// The door of the window. window MODEL FILE CELL... prints as JSON what its page Model says to the rows of FILE, and to
// typed rows of these cells. Nothing is shown: QT_QPA_PLATFORM=offscreen.
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

// The answers to what stands in the panel, row after row of `cells`, as a person fills the cells in.
class Typist {
 public:
  explicit Typist(MainWindow& window)
      : panel_(*window.findChild<TypedPanel*>()),
        table_(*panel_.findChild<QTableWidget*>(QStringLiteral("typed.values"))) {
    QObject::connect(&panel_, &TypedPanel::Answered, &answered_, &QEventLoop::quit);
  }

  /// Waits for the answer to what the panel shows of a model at first; before that nothing is typed.
  void AwaitFirst() { answered_.exec(); }

  QJsonArray Answers(const QStringList& cells) {
    QJsonArray rows;
    for (qsizetype at = 0; at + table_.rowCount() <= cells.size(); at += table_.rowCount()) {
      bool changed = false;
      for (int i = 0; i < table_.rowCount(); ++i) {
        changed = Type(i, cells[at + i]) || changed;
      }
      if (changed) {  // what stays as it was is not answered again
        answered_.exec();
      }
      rows << QJsonObject{
          {QStringLiteral("answer"), panel_.findChild<QLabel*>(QStringLiteral("typed.answer"))->text()},
          {QStringLiteral("problem"), panel_.findChild<QLabel*>(QStringLiteral("typed.problem"))->text()}};
    }
    return rows;
  }

 private:
  // Whether the cell had another text before.
  bool Type(int row, const QString& text) {
    auto* list = qobject_cast<QComboBox*>(table_.cellWidget(row, 1));
    const QString before = list != nullptr ? list->currentText() : table_.item(row, 1)->text();
    if (list != nullptr) {
      list->setCurrentText(text);
    } else {
      table_.item(row, 1)->setText(text);
    }
    return before != text;
  }

  TypedPanel& panel_;
  QTableWidget& table_;
  QEventLoop answered_;
};

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
  const QString model = folder.filePath(QStringLiteral("model.safetensors"));  // the window knows models by their name
  if (!QFile::copy(arguments[1], model)) {
    std::fputs("cannot copy the model\n", stderr);
    return 1;
  }
  Typist typist(window);
  window.files().Open(model);
  typist.AwaitFirst();
  const QJsonObject said{{QStringLiteral("file"), AnswersOfFile(window, arguments[2])},
                         {QStringLiteral("typed"), typist.Answers(arguments.mid(3))}};
  std::printf("%s\n", QJsonDocument(said).toJson(QJsonDocument::Compact).constData());
  return 0;
}
