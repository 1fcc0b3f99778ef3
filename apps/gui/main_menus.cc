// The menus of the window, and what each page is for.
#include <QListWidget>
#include <QMenuBar>
#include <QStackedWidget>
#include <algorithm>

#include "help_menu.h"
#include "main_window.h"
#include "notice_bar.h"
#include "setting_field.h"
#include "theme.h"

namespace lamina::gui {

void MainWindow::MakeMenus() {
  MakeFileMenu();
  MakeEditMenu();
  MakeViewMenu();
  menuBar()->addMenu(new HelpMenu(*notice_, this));
}

void MainWindow::MakeFileMenu() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("&Open data …"), QKeySequence::Open, files_, &FileActions::AskOpenData);
  file->addAction(tr("Open &folder of IDX files …"), files_, &FileActions::AskOpenFolder);
  file->addAction(tr("&Digits example"), files_, [this] { files_->OpenExample(QStringLiteral("digits.csv.gz")); });
  file->addAction(tr("Stoc&k example"), files_, [this] { files_->OpenExample(QStringLiteral("stocks.csv.gz")); });
  QMenu* recent = file->addMenu(tr("&Recent files"));
  connect(file, &QMenu::aboutToShow, this, [this, recent] { files_->FillRecent(*recent); });
  file->addSeparator();
  file->addAction(tr("Open pro&ject …"), QKeySequence(tr("Ctrl+Shift+O")), files_, &FileActions::AskOpenProject);
  file->addAction(tr("Save projec&t …"), QKeySequence(tr("Ctrl+Shift+S")), files_, &FileActions::AskSaveProject);
  file->addSeparator();
  file->addAction(tr("Open &model …"), QKeySequence(tr("Ctrl+M")), files_, &FileActions::AskOpenModel);
  file->addAction(tr("&Save model …"), QKeySequence::Save, files_, &FileActions::AskSaveModel);
  file->addAction(tr("&Export as a page, ONNX or C …"), files_, &FileActions::AskExport);
  file->addAction(tr("Dis&till into one network …"), files_, [this] { files_->AskDistill(background_); });
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);
}

void MainWindow::MakeEditMenu() {
  QMenu* edit = menuBar()->addMenu(tr("Edit"));  // its letter is one of the pages'
  edit->setObjectName(QStringLiteral("menu.edit"));
  QAction* undo = edit->addAction(tr("&Undo"), QKeySequence::Undo, &document_, &RunDocument::Undo);
  QAction* redo = edit->addAction(tr("&Redo"), QKeySequence::Redo, &document_, &RunDocument::Redo);
  edit->addSeparator();
  edit->addAction(tr("Defaults of this &page"), this,
                  [this] { document_.Reset(SettingsOn(*pages_->currentWidget())); });
  edit->addAction(tr("&Defaults everywhere"), &document_, &RunDocument::ResetAll);
  const auto show = [this, undo, redo] {
    undo->setEnabled(document_.can_undo());
    redo->setEnabled(document_.can_redo());
  };
  connect(&document_, &RunDocument::SettingsChanged, this, show);
  connect(&document_, &RunDocument::DataChanged, this, show);
  show();
}

void MainWindow::MakeViewMenu() {
  QMenu* view = menuBar()->addMenu(tr("&Page"));
  for (int i = 0; i < navigation_->count(); ++i) {
    view->addAction(navigation_->item(i)->text(), QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)), this,
                    [this, i] { ShowPage(static_cast<Page>(i)); });
  }
  view->addSeparator();
  AddThemes(*view);
}

void MainWindow::ShowHint() {
  const QString hints[] = {
      tr("Open a table and say which column is to be predicted. What is left as it is serves most data."),
      tr("The network between the columns and the answer. Recipe auto is a good start."),
      tr("How it learns. Rest the pointer on a field to read what it does, then press Start training."),
      tr("Trains with other settings, and finds those that do best on the validation rows."),
      tr("How good the model is on rows that it has not learned from."),
      tr("Keep the model, and use it: on files, on typed values, in a terminal, in other programs.")};
  notice_->SetHint(hints[static_cast<size_t>(std::max(0, navigation_->currentRow()))]);
}

}  // namespace lamina::gui
