// DataPage: choosing a data set, looking into it, and what each column is for.
#pragma once

#include <QWidget>

#include "run_document.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QTabWidget;
class QTableView;

namespace lamina::gui {

class ColumnsModel;
class PreviewModel;
class SettingField;

class DataPage : public QWidget {
  Q_OBJECT
 public:
  explicit DataPage(RunDocument& document, QWidget* parent = nullptr);

 Q_SIGNALS:
  void OpenRequested();
  void PathTyped(const QString& path);
  void OpenFolderRequested();
  void ExampleRequested(const QString& name);

 private:
  QWidget* MakeSource();
  QWidget* MakeColumns();
  QWidget* MakePreview();
  QWidget* MakeChoices();
  void ShowData();
  void ShowPictures();
  void ShowUses();
  void SetUse(int use);

  RunDocument& document_;
  ColumnsModel* columns_;
  PreviewModel* preview_;
  QLineEdit* path_ = nullptr;
  QLabel* empty_ = nullptr;
  QLabel* summary_ = nullptr;
  QTableView* columns_view_ = nullptr;
  QTableView* preview_view_ = nullptr;
  QTabWidget* samples_ = nullptr;  // the first rows as numbers and, where they are, as pictures
  QListWidget* pictures_ = nullptr;
  std::vector<QPushButton*> use_buttons_;
};

/// The path of a bundled data file ("digits.csv.gz") beside the installed or freshly built program; "" where it is not.
QString ExamplePath(const QString& name);

}  // namespace lamina::gui
