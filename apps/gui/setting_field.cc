// Editors of single settings.
#include "setting_field.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QFileDialog>
#include <QGridLayout>
#include <QGroupBox>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

#include "derive_dialog.h"
#include "labels.h"
#include "lamina/backend/backends.h"
#include "lamina/settings/settings_text.h"
#include "plain_text.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

constexpr int kMostColumns = 1000;  // in a list

// Settings whose text is a column's name, and those whose text is several.
constexpr std::string_view kOneColumn[] = {"split-by", "group", "series-by", "order-by", "weight-column", "baseline"};
constexpr std::string_view kSheet = "sheet";
constexpr std::string_view kManyColumns[] = {"text-columns", "use", "soft-target"};

template <size_t kSize>
bool IsIn(const std::string_view (&names)[kSize], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

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

// The arrow that lists have.
QIcon ListIcon() {
  QPixmap pixmap(32, 32);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(Qt::gray);
  painter.drawPolygon(QPolygonF({{8, 12}, {24, 12}, {16, 21}}));
  painter.end();
  return QIcon(pixmap);
}

QString PlaceholderOf(const std::string& name) {
  if (IsIn(kManyColumns, name)) {
    return QObject::tr("names, separated by commas");
  }
  if (name == "split-by") {
    return QObject::tr("at random");
  }
  if (name == kSheet) {
    return QObject::tr("the first one");
  }
  if (name == "class-weights") {
    return QObject::tr("balanced, or NAME=WEIGHT, ...");
  }
  if (name == "derive") {
    return QObject::tr("NAME=FUNCTION:COLUMN, ...");
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
  connect(&document_, &RunDocument::PlanChanged, this, &SettingField::ShowChosen);
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
  const bool named = IsIn(kOneColumn, name_) || name_ == kSheet;  // by what the data have
  if (choices.empty() && !named) {
    MakeLine();
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
  list_->setEditable(row_.more_choices || named);
  list_->setInsertPolicy(QComboBox::NoInsert);
  if (named) {
    list_->lineEdit()->setPlaceholderText(PlaceholderOf(name_));
    list_->completer()->setCompletionMode(QCompleter::PopupCompletion);
    list_->completer()->setFilterMode(Qt::MatchContains);
    connect(&document_, &RunDocument::DataChanged, this, &SettingField::ListNames);
    ListNames();
  }
  if (list_->isEditable()) {
    connect(list_, &QComboBox::editTextChanged, this, changed);
  } else {
    connect(list_, &QComboBox::currentIndexChanged, this, changed);
  }
}

void SettingField::MakeLine() {
  line_ = new QLineEdit(this);
  line_->setPlaceholderText(PlaceholderOf(name_));
  line_->setMinimumWidth(60);
  connect(line_, &QLineEdit::textEdited, this, [this] { document_.SetText(name_, Text()); });
  const auto offer = [this](const QIcon& icon, const QString& what, void (SettingField::*slot)()) {
    QAction* action = line_->addAction(icon, QLineEdit::TrailingPosition);
    action->setToolTip(what);
    action->setShortcut(QKeySequence(Qt::ALT | Qt::Key_Down));
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, slot);
    for (auto* button : line_->findChildren<QWidget*>()) {
      button->setAccessibleName(what);
    }
  };
  if (IsIn(kManyColumns, name_)) {
    offer(ListIcon(), tr("Choose from the columns (Alt+Down)"), &SettingField::OfferColumns);
  } else if (name_ == "derive") {
    offer(ListIcon(), tr("Put a column together (Alt+Down)"), &SettingField::ComputeColumn);
  } else if (row_.IsFile()) {
    offer(style()->standardIcon(QStyle::SP_DirOpenIcon), tr("Choose a file (Alt+Down)"), &SettingField::AskFile);
  }
}

std::vector<std::string> SettingField::Columns() const {
  std::vector<std::string> names;
  if (const auto data = document_.data(); data != nullptr) {
    const Table& table = data->raw.main.train;
    for (int i = 0; i < static_cast<int>(std::min<size_t>(table.columns.size(), kMostColumns)); ++i) {
      names.push_back(ColumnReference(table, i));
    }
  }
  return names;
}

std::vector<std::string> SettingField::Sheets() const {
  const auto data = document_.data();
  const bool book = data != nullptr && data->raw.main.train.sheet;
  return book ? data->raw.main.train.sheet->sheets : std::vector<std::string>();
}

void SettingField::ListNames() {
  const QSignalBlocker blocker(list_);
  const QString text = list_->currentText();
  list_->clear();
  list_->addItem(QString());
  for (const std::string& name : name_ == kSheet ? Sheets() : Columns()) {
    list_->addItem(FromText(name));
  }
  list_->setCurrentText(text);
}

// A menu in which columns are ticked; typing stays possible.
void SettingField::OfferColumns() {
  QMenu menu;
  const QStringList chosen = line_->text().split(QLatin1Char(','), Qt::SkipEmptyParts);
  for (const std::string& name : Columns()) {
    QAction* action = menu.addAction(ActionText(FromText(name)));
    action->setData(FromText(name));
    action->setCheckable(true);
    action->setChecked(chosen.contains(FromText(name)));
  }
  if (menu.isEmpty()) {
    menu.addAction(tr("Open data first"))->setEnabled(false);
  }
  const QAction* taken = menu.exec(line_->mapToGlobal(line_->rect().bottomLeft()));
  if (taken == nullptr) {
    return;
  }
  QStringList names = chosen;
  const QString name = taken->data().toString();
  names.removeAll(name);
  if (taken->isChecked()) {
    names << name;
  }
  document_.SetText(name_, names.join(QLatin1Char(',')));
}

void SettingField::ComputeColumn() {
  const auto data = document_.data();
  if (data == nullptr) {
    QMenu menu;
    menu.addAction(tr("Open data first"))->setEnabled(false);
    menu.exec(line_->mapToGlobal(line_->rect().bottomLeft()));
    return;
  }
  DeriveDialog dialog(data->raw.main.train, this);
  if (dialog.exec() == QDialog::Accepted) {
    const QString before = line_->text().trimmed();
    document_.SetText(name_, (before.isEmpty() ? QString() : before + QLatin1Char(',')) + FromText(dialog.Text()));
  }
}

void SettingField::AskFile() {
  const QString path = QFileDialog::getOpenFileName(this, PlainLabelOf(name_));
  if (!path.isEmpty()) {
    document_.SetText(name_, path);
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

void SettingField::ShowAtLevel(bool all) {
  const QWidget* focus = window()->focusWidget();
  const bool typing = focus != nullptr && isAncestorOf(focus) && !isHidden();
  const bool asked = name_ == kSheet && Sheets().size() > 1;
  const bool seen = all || row_.basic || asked || typing || !document_.ProblemOf(name_).isEmpty() ||
                    SettingText(document_.settings(), name_) != SettingText(TrainSettings(), name_);
  setVisible(seen);
  if (label_ != nullptr) {
    label_->setVisible(seen);
  }
}

void SettingField::ShowChosen() {
  const auto plan = document_.plan();
  const auto found = plan == nullptr ? std::map<std::string, std::string>::const_iterator() : plan->chosen.find(name_);
  const bool known = plan != nullptr && found != plan->chosen.end();
  const QString chosen = known ? FromText(found->second) : QString();
  if (line_ != nullptr && row_.kind() != SettingKind::kText && row_.kind() != SettingKind::kTextList) {
    line_->setPlaceholderText(known ? tr("automatic: %1").arg(chosen) : PlaceholderOf(name_));
  } else if (list_ != nullptr && !list_->isEditable()) {
    if (const int index = list_->findData(QStringLiteral("auto")); index >= 0) {
      const QSignalBlocker blocker(list_);
      list_->setItemText(index, known ? tr("auto: %1").arg(chosen) : QStringLiteral("auto"));
    }
  } else if (list_ != nullptr && known) {  // its text is the value itself
    list_->setToolTip(tr("auto: %1").arg(chosen) + QLatin1Char('\n') + FromText(row_.help));
  }
}

std::vector<std::string> SettingsOn(const QWidget& page) {
  std::vector<std::string> names;
  for (const QWidget* widget : page.findChildren<QWidget*>()) {
    if (const auto* field = qobject_cast<const SettingField*>(widget)) {
      names.push_back(field->name());
    }
    for (const QString& name : widget->property("settings").toStringList()) {
      names.push_back(name.toStdString());
    }
  }
  return names;
}

QPushButton* MakeResetButton(RunDocument& document, const QWidget& page) {
  auto* button = new QPushButton(QObject::tr("&Defaults of this page"));
  button->setObjectName(QStringLiteral("page.reset"));
  button->setToolTip(QObject::tr("Sets everything on this page back; Edit > Undo takes it back"));
  QObject::connect(button, &QPushButton::clicked, button, [&document, &page] { document.Reset(SettingsOn(page)); });
  return button;
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
  label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  label->setToolTip(FromText(TrainSettingRow(name).help));
  label->setContentsMargins(0, 4, 0, 0);
  field->SetLabel(label);
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
