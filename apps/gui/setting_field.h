// SettingField: one setting with its label, its editor and, beside it, what is wrong with it.
#pragma once

#include <QLabel>
#include <QWidget>
#include <string>
#include <vector>

#include "run_document.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLineEdit;
class QPushButton;

namespace lamina::gui {

/// Text in the color of problems, with wrapping; hidden while empty.
class ProblemLabel : public QLabel {
  Q_OBJECT
 public:
  explicit ProblemLabel(QWidget* parent = nullptr);
  void SetProblem(const QString& text);
};

/// The editor follows from the setting's row. Yes and no have a check box; choices and names of columns have
/// a list. All else is a line of text. A dialog stands beside names of files and descriptions of columns, a
/// menu beside several columns. A setting without effect has its editor out of use and says why in the tool
/// tip. A wrong one can always be put right. A setting that is left to the library shows what the library
/// takes.
class SettingField : public QWidget {
  Q_OBJECT
 public:
  SettingField(RunDocument& document, std::string name, QWidget* parent = nullptr);

  const std::string& name() const { return name_; }
  QWidget* editor() const;
  /// Its label is seen where it is.
  void SetLabel(QWidget* label) { label_ = label; }
  bool is_basic() const { return row_.basic; }
  /// Seen or not: `all`, or what LevelSwitch says.
  void ShowAtLevel(bool all);

 private:
  void MakeEditor();
  void MakeLine();
  void ListNames();
  void OfferColumns();
  void ComputeColumn();
  void AskFile();
  void Show();
  void ShowChosen();
  std::vector<std::string> Columns() const;  // of the open data
  std::vector<std::string> Sheets() const;   // of the open book
  QString Text() const;

  RunDocument& document_;
  std::string name_;
  const Setting<TrainSettings>& row_;
  QLineEdit* line_ = nullptr;
  QComboBox* list_ = nullptr;
  QCheckBox* check_ = nullptr;
  ProblemLabel* problem_ = nullptr;
  QWidget* label_ = nullptr;
};

/// A button that sets these back to their defaults.
QPushButton* MakeResetButton(RunDocument& document, const QWidget& page);

/// A row of a two-column grid: label and field. Returns the field.
SettingField* AddField(QGridLayout& grid, RunDocument& document, const std::string& name);

/// The settings that are edited on `page`: those of its fields, and those that editors of other kinds name in their
/// property "settings".
std::vector<std::string> SettingsOn(const QWidget& page);

/// A titled box of such rows.
QWidget* MakeFieldGroup(const QString& title, RunDocument& document, const std::vector<std::string>& names);

}  // namespace lamina::gui
