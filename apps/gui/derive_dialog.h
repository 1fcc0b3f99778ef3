// DeriveDialog: a computed column put together from lists.
#pragma once

#include <QDialog>
#include <string>

#include "lamina/data/files/table.h"

class QComboBox;
class QDialogButtonBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace lamina::gui {

class ProblemLabel;

/// Function, column and argument are chosen, the name is suggested; what cannot be is said and cannot be added.
class DeriveDialog : public QDialog {
  Q_OBJECT
 public:
  /// `table` outlives it.
  explicit DeriveDialog(const Table& table, QWidget* parent = nullptr);

  /// "NAME=FUNCTION:COLUMN[:ARGUMENT]", as --derive takes it.
  std::string Text() const;

 private:
  void ShowFunction();
  void ListColumns(QComboBox& list, bool dates) const;
  void Check();

  const Table& table_;
  QComboBox* function_;
  QComboBox* column_;
  QComboBox* other_;
  QSpinBox* count_;
  QLabel* argument_label_;
  QLineEdit* name_;
  ProblemLabel* problem_;
  QDialogButtonBox* buttons_;
};

}  // namespace lamina::gui
