// Editing what is searched.
#include "search_form.h"

#include <QComboBox>
#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "labels.h"
#include "level_switch.h"
#include "problem.h"

namespace lamina::gui {
namespace {

// A search that suits most data: the learning rate matters most, then the size of the network.
constexpr std::pair<const char*, const char*> kFirstTried[] = {{"learning-rate", "0.0003,0.001,0.003,0.01"},
                                                               {"hidden", "32|128|128,64"}};
constexpr const char* kHow[] = {"metric", "random", "halving", "first-epochs", "at-once", "time-limit", "ensemble"};

const Setting<SearchSettings>& RowOf(std::string_view name) {
  for (const auto& row : SettingRows<SearchSettings>()) {
    if (row.name == name) {
      return row;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "no such setting of a search", {.value = std::string(name)});
}

QString TextOf(const SearchSettings& settings, const Setting<SearchSettings>& row) {
  QString text;
  WithField(settings, row, [&](const auto& field) { text = FromText(FieldText(&field)); });
  return text;
}

}  // namespace

SearchForm::SearchForm(RunDocument& document, QWidget* parent)
    : QWidget(parent), level_(new LevelSwitch(document, *this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 4, 0);
  layout->addWidget(level_);
  layout->addWidget(MakeTried());
  layout->addWidget(MakeHow());
  layout->addStretch();
  for (const auto& [name, values] : kFirstTried) {
    Add(QString::fromLatin1(name), QString::fromLatin1(values));
  }
}

QWidget* SearchForm::MakeTried() {
  auto* box = new QGroupBox(tr("What is tried"));
  auto* layout = new QVBoxLayout(box);
  auto* about =
      new QLabel(tr("Values with commas between them, or a range (0.0001..0.1). Values that have commas of "
                    "their own: with | between them (64|128,64). All combinations are tried."));
  about->setWordWrap(true);
  layout->addWidget(about);
  rows_ = new QVBoxLayout;
  rows_->setSpacing(4);
  layout->addLayout(rows_);
  auto* add = new QPushButton(tr("&Add a setting"));
  add->setObjectName(QStringLiteral("search.add"));
  connect(add, &QPushButton::clicked, this, [this] {
    Add(QStringLiteral("batch"), QString());
    tried_.back().values->setFocus();
  });
  layout->addWidget(add, 0, Qt::AlignLeft);
  return box;
}

void SearchForm::Add(const QString& name, const QString& values) {
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* list = new QComboBox;
  for (const auto& setting : SettingRows<TrainSettings>()) {
    if (setting.trials == InTrials::kMayDiffer && !setting.of_columns) {
      list->addItem(PlainLabelOf(setting.name), FromText(setting.name));
      list->setItemData(list->count() - 1, FromText(setting.help), Qt::ToolTipRole);
    }
  }
  list->setCurrentIndex(std::max(0, list->findData(name)));
  list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  list->setMinimumContentsLength(10);
  const auto show_whole = [list] { list->setToolTip(list->currentText()); };  // it may be too long for its room
  connect(list, &QComboBox::currentIndexChanged, list, show_whole);
  show_whole();
  list->setAccessibleName(tr("Setting that is tried"));
  auto* line = new QLineEdit(values);
  line->setAccessibleName(tr("Values that are tried"));
  line->setCursorPosition(0);  // where they are too long, their begin is shown
  line->setMinimumWidth(90);
  line->setObjectName(QStringLiteral("search.values"));
  auto* remove = new QToolButton;
  remove->setText(QStringLiteral("×"));
  remove->setAccessibleName(tr("Try this setting no more"));
  remove->setToolTip(remove->accessibleName());
  remove->setFocusPolicy(Qt::StrongFocus);
  layout->addWidget(list, 2);
  layout->addWidget(line, 3);
  layout->addWidget(remove);
  connect(list, &QComboBox::currentIndexChanged, this, &SearchForm::Changed);
  connect(line, &QLineEdit::textEdited, this, &SearchForm::Changed);
  connect(remove, &QToolButton::clicked, this, [this, row] { Remove(row); });
  rows_->addWidget(row);
  tried_.push_back({row, list, line});
  Q_EMIT Changed();
}

void SearchForm::Remove(const QWidget* row) {
  std::erase_if(tried_, [row](const Tried& tried) {
    if (tried.row == row) {
      tried.row->hide();
      tried.row->deleteLater();
    }
    return tried.row == row;
  });
  Q_EMIT Changed();
}

QWidget* SearchForm::MakeHow() {
  auto* box = new QGroupBox(tr("How"));
  auto* grid = new QGridLayout(box);
  for (const char* name : kHow) {
    const Setting<SearchSettings>& row = RowOf(name);
    const QString text = TextOf(settings_, row);
    const auto take = [this, &row](const QString& typed, ProblemLabel* problem) {
      const auto wrong = Attempt([&] {
        WithField(settings_, row, [&](auto& field) { ParseField(row.name, typed.toStdString(), &field); });
        CheckSettingRows(settings_);
      });
      problem->SetProblem(wrong ? wrong->Text() : QString());
      Q_EMIT Changed();
    };
    auto* problem = new ProblemLabel;
    QWidget* editor = nullptr;
    if (row.choices != nullptr) {
      auto* list = new QComboBox;
      for (const std::string& choice : row.choices()) {
        list->addItem(FromText(choice));
      }
      connect(list, &QComboBox::currentTextChanged, this,
              [take, problem](const QString& typed) { take(typed, problem); });
      editor = list;
    } else {
      auto* line = new QLineEdit(text);
      connect(line, &QLineEdit::textEdited, this, [take, problem](const QString& typed) { take(typed, problem); });
      editor = line;
    }
    editor->setObjectName(QStringLiteral("search.") + QLatin1String(name));
    editor->setAccessibleName(PlainLabelOf(name));
    editor->setToolTip(FromText(row.help));
    auto* label = new QLabel(LabelOf(name));
    label->setBuddy(editor);
    const int at = grid->rowCount();
    grid->addWidget(label, at, 0);
    grid->addWidget(editor, at, 1);
    grid->addWidget(problem, at + 1, 0, 1, 2);
    level_->Add({label, editor}, row.basic, [this, &row, problem] {
      return !problem->isHidden() || TextOf(settings_, row) != TextOf(SearchSettings(), row);
    });
  }
  grid->setColumnStretch(1, 1);
  return box;
}

SearchSettings SearchForm::SettingsFor(const TrainSettings& train) const {
  SearchSettings settings = settings_;
  settings.train = train;
  for (const Tried& tried : tried_) {
    if (const QString values = tried.values->text().trimmed(); !values.isEmpty()) {
      settings.vary.push_back((tried.name->currentData().toString() + QLatin1Char('=') + values).toStdString());
    }
  }
  return settings;
}

}  // namespace lamina::gui
