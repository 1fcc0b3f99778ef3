// Lists of functions and columns, and what comes out of them.
#include "derive_dialog.h"

#include <fmt/format.h>

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <algorithm>

#include "lamina/data/encode/derive.h"
#include "problem.h"
#include "setting_field.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

const DeriveFunction& FunctionAt(int index) { return DeriveFunctions()[static_cast<size_t>(std::max(0, index))]; }

}  // namespace

DeriveDialog::DeriveDialog(const Table& table, QWidget* parent)
    : QDialog(parent),
      table_(table),
      function_(new QComboBox),
      column_(new QComboBox),
      other_(new QComboBox),
      count_(new QSpinBox),
      argument_label_(new QLabel),
      name_(new QLineEdit),
      problem_(new ProblemLabel),
      buttons_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel)) {
  setWindowTitle(tr("Compute a column"));
  for (const DeriveFunction& function : DeriveFunctions()) {
    function_->addItem(QStringLiteral("%1: %2").arg(FromText(function.name), FromText(function.help)),
                       FromText(function.name));
  }
  function_->setObjectName(QStringLiteral("derive.function"));
  column_->setObjectName(QStringLiteral("derive.column"));
  other_->setObjectName(QStringLiteral("derive.other"));
  count_->setObjectName(QStringLiteral("derive.count"));
  name_->setObjectName(QStringLiteral("derive.name"));
  count_->setRange(1, 10'000);
  auto* form = new QFormLayout(this);
  form->addRow(tr("&Function"), function_);
  form->addRow(tr("&Column"), column_);
  form->addRow(argument_label_, other_);
  form->addRow(tr("&Rows"), count_);
  form->addRow(tr("&Name"), name_);
  form->addRow(problem_);
  form->addRow(buttons_);
  connect(function_, &QComboBox::currentIndexChanged, this, &DeriveDialog::ShowFunction);
  for (QComboBox* list : {column_, other_}) {
    connect(list, &QComboBox::currentIndexChanged, this, &DeriveDialog::Check);
  }
  connect(name_, &QLineEdit::textEdited, this, &DeriveDialog::Check);
  connect(count_, &QSpinBox::valueChanged, this, &DeriveDialog::Check);
  connect(buttons_, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
  argument_label_->setText(tr("&Other column"));
  argument_label_->setBuddy(other_);
  ShowFunction();
}

void DeriveDialog::ListColumns(QComboBox& list, bool dates) const {
  const QSignalBlocker blocker(&list);
  const QString before = list.currentText();
  list.clear();
  for (int i = 0; i < static_cast<int>(table_.columns.size()); ++i) {
    const Column& column = table_.columns[static_cast<size_t>(i)];
    if (dates ? column.is_date : column.kind == ColumnKind::kNumber) {
      list.addItem(FromText(ColumnReference(table_, i)));
    }
  }
  list.setCurrentText(before);
}

void DeriveDialog::ShowFunction() {
  const DeriveFunction& function = FunctionAt(function_->currentIndex());
  ListColumns(*column_, function.of_date);
  ListColumns(*other_, false);
  auto* form = qobject_cast<QFormLayout*>(layout());
  form->setRowVisible(other_, function.argument == "column");
  form->setRowVisible(count_, function.argument == "[count]");
  Check();
}

std::string DeriveDialog::Text() const {
  const DeriveFunction& function = FunctionAt(function_->currentIndex());
  const std::string column = column_->currentText().toStdString();
  const std::string argument = function.argument == "column"    ? other_->currentText().toStdString()
                               : function.argument == "[count]" ? std::to_string(count_->value())
                                                                : std::string();
  std::string name = name_->text().trimmed().toStdString();
  if (name.empty()) {
    name = name_->placeholderText().toStdString();
  }
  return fmt::format("{}={}:{}{}{}", name, function.name, column, argument.empty() ? "" : ":", argument);
}

void DeriveDialog::Check() {
  const DeriveFunction& function = FunctionAt(function_->currentIndex());
  name_->setPlaceholderText(QStringLiteral("%1_%2").arg(column_->currentText(), FromText(function.name)));
  const auto problem = Attempt([&] {
    const std::string text = Text();
    ValidateDerive({.columns = {text}});
    const std::vector<std::string> names = table_.ColumnNames();
    if (std::find(names.begin(), names.end(), DerivedName(text)) != names.end()) {
      throw Error(ErrorCode::kInvalidArgument, "there is a column of this name already",
                  {.value = DerivedName(text), .remedy = "Choose another name."});
    }
  });
  const bool nothing = column_->count() == 0;
  problem_->SetProblem(
      nothing   ? (function.of_date ? tr("There is no column of dates.") : tr("There is no column of numbers."))
      : problem ? problem->Text()
                : QString());
  buttons_->button(QDialogButtonBox::Ok)->setEnabled(!nothing && !problem);
}

}  // namespace lamina::gui
