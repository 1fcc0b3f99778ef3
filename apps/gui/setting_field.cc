// Editors of single settings.
#include "setting_field.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QGroupBox>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include "labels.h"
#include "lamina/backend/backends.h"
#include "lamina/train/settings_text.h"

namespace lamina::gui {
namespace {

constexpr int kLabelWidth = 150;

// Backends that cannot be used stay in the list, greyed, with the reason.
void AddBackends(QComboBox& list) {
  list.addItem(QStringLiteral("auto"));
  auto* model = qobject_cast<QStandardItemModel*>(list.model());
  for (const BackendRow& row : BackendTable()) {
    const Verdict verdict = row.available();
    const QString name = FromText(row.name);
    const QString what =
        verdict ? FromText(row.summary) : QObject::tr("not available: %1").arg(FromText(verdict.reason));
    list.addItem(verdict ? name : QStringLiteral("%1 (%2)").arg(name, what), name);
    const int index = list.count() - 1;
    list.setItemData(index, QStringLiteral("%1: %2").arg(name, what), Qt::ToolTipRole);
    if (!verdict && model != nullptr) {
      model->item(index)->setEnabled(false);
    }
  }
  list.setItemData(0, QStringLiteral("auto"));
}

QString PlaceholderOf(const std::string& name) {
  if (name == "learning-rate") {
    return QObject::tr("automatic");
  }
  if (name == "text-columns") {
    return QObject::tr("names, separated by commas");
  }
  if (name == "split-by") {
    return QObject::tr("at random");
  }
  return name == "samples" ? QObject::tr("0: all") : QString();
}

}  // namespace

ProblemLabel::ProblemLabel(QWidget* parent) : QLabel(parent) {
  setWordWrap(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse);
  setVisible(false);
}

void ProblemLabel::SetProblem(const QString& text) {
  const bool dark = palette().color(QPalette::Window).lightness() < 128;
  setStyleSheet(dark ? QStringLiteral("color: #ffb4ab") : QStringLiteral("color: #a3140c"));
  setText(text);
  setVisible(!text.isEmpty());
}

SettingField::SettingField(RunDocument& document, std::string name, QWidget* parent)
    : QWidget(parent),
      document_(document),
      name_(std::move(name)),
      row_(TrainSettingRow(name_)),
      problem_(new ProblemLabel(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  MakeEditor();
  layout->addWidget(editor());
  layout->addWidget(problem_);
  editor()->setObjectName(QStringLiteral("field.") + FromText(name_));
  editor()->setAccessibleName(PlainLabelOf(name_));
  problem_->setObjectName(QStringLiteral("problem.") + FromText(name_));
  problem_->setAccessibleName(tr("Problem of %1").arg(PlainLabelOf(name_)));
  setFocusProxy(editor());
  connect(&document_, &RunDocument::SettingsChanged, this, &SettingField::Show);
  Show();
}

void SettingField::MakeEditor() {
  const auto changed = [this] { document_.SetText(name_, Text()); };
  if (row_.kind() == SettingKind::kYesNo) {
    check_ = new QCheckBox(LabelOf(name_), this);
    connect(check_, &QCheckBox::toggled, this, changed);
    return;
  }
  const std::vector<std::string> choices = SettingChoices(name_);
  if (choices.empty()) {
    line_ = new QLineEdit(this);
    line_->setPlaceholderText(PlaceholderOf(name_));
    connect(line_, &QLineEdit::textEdited, this, changed);
    return;
  }
  list_ = new QComboBox(this);
  list_->setMinimumContentsLength(8);
  list_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  if (name_ == "backend") {
    AddBackends(*list_);
  } else {
    for (const std::string& choice : choices) {
      list_->addItem(FromText(choice), FromText(choice));
    }
  }
  list_->setEditable(row_.more_choices);
  list_->setInsertPolicy(QComboBox::NoInsert);
  if (list_->isEditable()) {
    connect(list_, &QComboBox::editTextChanged, this, changed);
  } else {
    connect(list_, &QComboBox::currentIndexChanged, this, changed);
  }
}

QWidget* SettingField::editor() const {
  return check_ != nullptr ? static_cast<QWidget*>(check_) : list_ != nullptr ? static_cast<QWidget*>(list_) : line_;
}

QString SettingField::Text() const {
  if (check_ != nullptr) {
    return check_->isChecked() ? QStringLiteral("yes") : QStringLiteral("no");
  }
  if (list_ != nullptr) {
    return list_->isEditable() ? list_->currentText() : list_->currentData().toString();
  }
  return line_->text();
}

void SettingField::Show() {
  const QSignalBlocker blocker(editor());
  const QString problem = document_.ProblemOf(name_);
  problem_->SetProblem(problem);
  const bool effect = row_.HasEffect(document_.settings());
  editor()->setEnabled(effect || !problem.isEmpty());
  editor()->setToolTip(effect || row_.effect_text.empty() ? FromText(row_.help)
                                                          : WithLabels(FromText(row_.effect_text)));
  const QString text = FromText(SettingText(document_.settings(), name_));
  if (check_ != nullptr) {
    check_->setChecked(text == QStringLiteral("yes"));
  } else if (list_ != nullptr && list_->isEditable()) {
    if (list_->currentText() != text) {
      list_->setCurrentText(text);
    }
  } else if (list_ != nullptr) {
    list_->setCurrentIndex(list_->findData(text));
  } else if (!line_->hasFocus() || problem.isEmpty()) {
    // What is being typed is left as it is while it means the same ("0." and "0").
    TrainSettings typed = document_.settings();
    const bool same = !Attempt([&] { SetSetting(typed, name_, line_->text().toStdString()); }) &&
                      FromText(SettingText(typed, name_)) == text;
    const bool wrong = !problem.isEmpty() && line_->isModified();
    if (!same && !wrong) {
      line_->setText(text);
    }
  }
}

SettingField* AddField(QGridLayout& grid, RunDocument& document, const std::string& name) {
  const int row = grid.rowCount();
  auto* field = new SettingField(document, name);
  if (qobject_cast<QCheckBox*>(field->editor()) != nullptr) {
    grid.addWidget(field, row, 1);
    return field;
  }
  auto* label = new QLabel(LabelOf(name));
  label->setBuddy(field->editor());
  label->setMinimumWidth(kLabelWidth);
  label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  label->setContentsMargins(0, 4, 0, 0);
  grid.addWidget(label, row, 0);
  grid.addWidget(field, row, 1);
  grid.setColumnStretch(1, 1);
  return field;
}

QWidget* MakeFieldGroup(const QString& title, RunDocument& document, const std::vector<std::string>& names) {
  auto* box = new QGroupBox(title);
  auto* grid = new QGridLayout(box);
  grid->setVerticalSpacing(6);
  for (const std::string& name : names) {
    AddField(*grid, document, name);
  }
  return box;
}

}  // namespace lamina::gui
