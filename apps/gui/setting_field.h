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

/// The editor follows from the setting's row: a check box for yes and no; a list for choices
/// and for a column's name; else a line of text. The line has a menu of the columns where it
/// names several, and a dialog where it names a file or describes a column. While the setting
/// has no effect, the editor is out of use, with the reason as its tool tip; a wrong one can
/// always be put right. A setting that is left to the library shows what the library takes.
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
