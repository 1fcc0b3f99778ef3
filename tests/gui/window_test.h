// What the tests of the window share: a window with settings of its own, and waiting for it.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>
#include <memory>

#include "main_window.h"
#include "notice_bar.h"
#include "tests/source_folder.h"

namespace lamina::gui {

constexpr int kPatience_ms = 60000;  // only a hang takes so long

class WindowTest : public QObject {
  Q_OBJECT
 public:
  QString Path(const QString& name) const { return folder_.filePath(name); }
  QString Write(const QString& name, const QByteArray& content) const {
    QFile file(Path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) {
      qFatal("cannot write a test file");
    }
    return Path(name);
  }
  static QString Digits() { return QString::fromStdString(SourceFolder() + "/data/digits.csv.gz"); }

  /// A shown window; the one before is closed without questions.
  MainWindow& NewWindow() {
    window_.reset();
    window_ = std::make_unique<MainWindow>();
    window_->ask_to_save = [](const QString&) { return SaveChoice::kDiscard; };
    window_->show();
    return *window_;
  }
  MainWindow& window() { return *window_; }
  void CloseWindow() { window_.reset(); }

  template <class W>
  W* Find(const char* name) {
    W* found = window_->findChild<W*>(QString::fromLatin1(name));
    if (found == nullptr) {
      qFatal("there is no %s", name);
    }
    return found;
  }
  QPushButton* Start() { return Find<QPushButton>("run.start"); }
  QString Notice() { return window_->notice().text(); }

  bool Load(const QString& path) {
    window_->files().Open(path);
    return QTest::qWaitFor([this] { return !window_->document().loading(); }, kPatience_ms);
  }
  bool Settled() {
    return QTest::qWaitFor([this] { return !window_->document().StartBlocker().endsWith(QStringLiteral("…")); },
                           kPatience_ms);
  }
  bool Trained() {
    return QTest::qWaitFor([this] { return !window_->worker().active(); }, kPatience_ms);
  }
  /// As a user types: the old text away, the new one in.
  void Type(const char* name, const QString& text) {
    auto* line = Find<QLineEdit>(name);
    line->setFocus();
    line->selectAll();
    text.isEmpty() ? QTest::keyClick(line, Qt::Key_Delete) : QTest::keyClicks(line, text);
  }
  void Choose(const char* name, const QString& text) { Find<QComboBox>(name)->setCurrentText(text); }
  void Click(const char* name) { QTest::mouseClick(Find<QAbstractButton>(name), Qt::LeftButton); }
  void SmallRun(int epochs) {
    window_->document().Edit([&](TrainSettings& settings) {
      settings.samples = 300;
      settings.hidden = {16};
      settings.epochs = epochs;
      settings.threads = 1;
      settings.patience = 0;
    });
  }

 private Q_SLOTS:
  void init() {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder_.path());
    QSettings().clear();
    QSettings().setValue(QStringLiteral("all_settings"), true);  // what is Basic has tests of its own
    NewWindow();
  }
  void cleanup() { CloseWindow(); }

 private:
  QTemporaryDir folder_;
  std::unique_ptr<MainWindow> window_;
};

/// Each makes its test object; the rows of the table in main.cc.
std::unique_ptr<QObject> MakePartsTest();
std::unique_ptr<QObject> MakeFilesTest();
std::unique_ptr<QObject> MakeSettingsTest();
std::unique_ptr<QObject> MakeTrainingTest();
std::unique_ptr<QObject> MakeLostTest();
std::unique_ptr<QObject> MakeProjectsTest();
std::unique_ptr<QObject> MakeShownTest();
std::unique_ptr<QObject> MakeFormsTest();
std::unique_ptr<QObject> MakeRunsTest();
std::unique_ptr<QObject> MakeNotesTest();
std::unique_ptr<QObject> MakeNamesTest();
std::unique_ptr<QObject> MakeHostileTest();
std::unique_ptr<QObject> MakeTablesTest();
std::unique_ptr<QObject> MakeProgramTest();
std::unique_ptr<QObject> MakePicturesTest();
std::unique_ptr<QObject> MakeMonkeyTest();

}  // namespace lamina::gui
