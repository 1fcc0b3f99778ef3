// Typed values.
#include "typed_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "draw_pad.h"
#include "setting_field.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

constexpr int kAnswerPause_ms = 150;
constexpr size_t kShownClasses = 3;

bool HasColumns(const Table& table, const std::vector<CellColumn>& columns) {
  const std::vector<std::string> names = table.ColumnNames();
  return std::all_of(columns.begin(), columns.end(), [&](const CellColumn& column) {
    return std::find(names.begin(), names.end(), column.name) != names.end();
  });
}

// A number from the middle of the training, or a day.
QString TypicalText(const FittedColumn& column) {
  return column.is_date ? FromText(DateText(std::round(column.Typical()))) : QString::number(column.Typical(), 'g', 6);
}

// The classes with the largest outputs.
QString DetailsOf(const FilePrediction& prediction) {
  if (prediction.answers.classes.empty() || !prediction.answers.has_answer(0)) {
    return {};
  }
  const std::vector<double> outputs = ClassOutputs(*prediction.model, prediction.answers.outputs.Row<double>(0));
  std::vector<size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return outputs[a] > outputs[b]; });
  order.resize(std::min(order.size(), kShownClasses));
  QStringList parts;
  for (const size_t c : order) {
    parts << QStringLiteral("%1: %2").arg(FromText(prediction.model->preprocessor.targets().class_names()[c]),
                                          QString::number(outputs[c], 'f', 4));
  }
  return OutputName(*prediction.model) + QStringLiteral("   ") + parts.join(QStringLiteral("    "));
}

void PrepareValues(QTableWidget& table) {
  table.setColumnCount(2);
  table.setHorizontalHeaderLabels({TypedPanel::tr("column"), TypedPanel::tr("value")});
  table.horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 10);
  table.setObjectName(QStringLiteral("typed.values"));
  table.setAccessibleName(TypedPanel::tr("Values to predict from"));
  table.setTabKeyNavigation(false);
  table.setTextElideMode(Qt::ElideMiddle);
  table.setEditTriggers(QAbstractItemView::AllEditTriggers);
}

void PrepareAnswer(QLabel& answer) {
  QFont large = answer.font();
  large.setPointSizeF(large.pointSizeF() * 1.4);
  large.setBold(true);
  answer.setFont(large);
  answer.setObjectName(QStringLiteral("typed.answer"));
  answer.setAccessibleName(TypedPanel::tr("Prediction"));
  answer.setTextInteractionFlags(Qt::TextSelectableByMouse);
}

}  // namespace

TypedPanel::TypedPanel(ModelStore& store, RunDocument& document, Background& background, QWidget* parent)
    : QWidget(parent),
      store_(store),
      document_(document),
      background_(background),
      table_(new QTableWidget),
      drawing_(new QWidget),
      pad_(new DrawPad),
      row_(new QSpinBox),
      take_(new QPushButton(tr("T&ake this row of the open data"))),
      answer_(new QLabel),
      details_(new QLabel),
      problem_(new ProblemLabel) {
  row_->setMinimum(1);
  row_->setAccessibleName(tr("Row of the open data"));
  row_->setObjectName(QStringLiteral("typed.row"));
  take_->setObjectName(QStringLiteral("typed.take"));
  auto* bar = new QHBoxLayout;
  bar->addWidget(row_);
  bar->addWidget(take_);
  bar->addStretch();
  PrepareAnswer(*answer_);
  problem_->setObjectName(QStringLiteral("typed.problem"));
  PrepareValues(*table_);
  auto* layout = new QVBoxLayout(this);
  auto* clear = new QPushButton(tr("&Empty the picture"));
  clear->setObjectName(QStringLiteral("draw.clear"));
  connect(clear, &QPushButton::clicked, pad_, &DrawPad::Clear);
  connect(pad_, &DrawPad::Drawn, this, &TypedPanel::TakeDrawing);
  auto* drawn = new QVBoxLayout(drawing_);
  drawn->setContentsMargins(0, 0, 0, 0);
  drawn->addWidget(pad_, 1);
  drawn->addWidget(clear, 0, Qt::AlignLeft);
  details_->setWordWrap(true);
  auto* said = new QVBoxLayout;
  said->addWidget(answer_);
  said->addWidget(details_);
  said->addWidget(problem_);
  said->addStretch();
  auto* top = new QHBoxLayout;
  top->addWidget(drawing_);
  top->addLayout(said, 1);
  layout->addLayout(bar);
  layout->addLayout(top);
  layout->addWidget(table_, 1);
  timer_.setSingleShot(true);
  timer_.setInterval(kAnswerPause_ms);
  connect(&timer_, &QTimer::timeout, this, &TypedPanel::Predict);
  connect(take_, &QPushButton::clicked, this, &TypedPanel::TakeRow);
  connect(table_, &QTableWidget::itemChanged, this, [this] {
    ShowDrawing();
    timer_.start();
  });
  connect(&store_, &ModelStore::Changed, this, &TypedPanel::ShowModel);
  connect(&document_, &RunDocument::DataChanged, this, &TypedPanel::ShowData);
  ShowModel();
  ShowData();
}

void TypedPanel::ShowData() {
  const auto data = document_.data();
  const int64_t rows = data == nullptr ? 0 : data->raw.main.train.rows;
  row_->setMaximum(static_cast<int>(std::clamp<int64_t>(rows, 1, 1 << 30)));
  row_->setEnabled(rows > 0 && shown_ != nullptr);
  take_->setEnabled(rows > 0 && shown_ != nullptr);
}

void TypedPanel::ShowModel() {
  if (store_.model() == shown_ && shown_ != nullptr) {
    return;
  }
  shown_ = store_.model();
  ++generation_;
  const QSignalBlocker blocker(table_);
  table_->setRowCount(0);
  ShowData();
  answer_->setText(shown_ == nullptr ? tr("There is no model yet") : QString());
  details_->clear();
  problem_->SetProblem({});
  pictures_.reset();
  drawing_->hide();
  if (shown_ == nullptr) {
    return;
  }
  pictures_ = PicturesFor(shown_->preprocessor.inputs());
  const std::vector<CellColumn> columns = CellColumnsOf(*shown_);
  table_->setRowCount(static_cast<int>(columns.size()));
  for (int i = 0; i < table_->rowCount(); ++i) {
    const CellColumn& typed = columns[static_cast<size_t>(i)];
    const FittedColumn* column = typed.fitted;
    auto* name = new QTableWidgetItem(FromText(typed.name));
    name->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    table_->setItem(i, 0, name);
    if (column != nullptr && column->kind == ColumnKind::kText) {
      auto* list = new QComboBox;
      for (const std::string& category : column->categories) {
        list->addItem(FromText(category));
      }
      list->setEditable(true);  // none, or one that training did not see
      list->setInsertPolicy(QComboBox::NoInsert);
      list->lineEdit()->setPlaceholderText(tr("missing"));
      list->setAccessibleName(FromText(typed.name));
      connect(list, &QComboBox::currentTextChanged, this, [this] { timer_.start(); });
      table_->setCellWidget(i, 1, list);
    } else {
      table_->setItem(i, 1, new QTableWidgetItem(column == nullptr ? QString() : TypicalText(*column)));
    }
  }
  if (pictures_) {
    pad_->SetSize(pictures_->width, pictures_->height);
    drawing_->show();
    TakeDrawing();
  }
  timer_.start();
}

// The pixels drawn become the values; the values become the picture.
void TypedPanel::TakeDrawing() {
  const QSignalBlocker blocker(table_);
  for (int i = 0; pictures_ && i < table_->rowCount(); ++i) {
    const uchar shade = pad_->picture().constScanLine(i / pictures_->width)[i % pictures_->width];
    table_->item(i, 1)->setText(QString::number(std::round(shade * pictures_->white / 255)));
  }
  timer_.start();
}

void TypedPanel::ShowDrawing() {
  if (!pictures_) {
    return;
  }
  QImage picture(pictures_->width, pictures_->height, QImage::Format_Grayscale8);
  for (int i = 0; i < table_->rowCount(); ++i) {
    const double shade = table_->item(i, 1)->text().toDouble() / pictures_->white;
    picture.scanLine(i / pictures_->width)[i % pictures_->width] =
        static_cast<uchar>(std::lround(255 * std::clamp(shade, 0.0, 1.0)));
  }
  pad_->SetPicture(picture);
}

void TypedPanel::SetValue(int row, const QString& text) {
  if (auto* list = qobject_cast<QComboBox*>(table_->cellWidget(row, 1))) {
    list->setCurrentText(text);
  } else {
    table_->item(row, 1)->setText(text);
  }
}

void TypedPanel::TakeRow() {
  const auto data = document_.data();
  if (data == nullptr || shown_ == nullptr) {
    return;
  }
  const Table* table = &data->raw.main.train;
  Table derived;  // a copy with the model's derived columns, where it has some
  const std::vector<CellColumn> columns = CellColumnsOf(*shown_);
  const QSignalBlocker blocker(table_);
  const auto problem = Attempt([&] {
    if (!HasColumns(*table, columns)) {
      derived = *table;
      shown_->preprocessor.Prepare(derived);
      table = &derived;
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      const Column& column = table->columns[static_cast<size_t>(table->FindColumn(columns[i].name))];
      SetValue(static_cast<int>(i), CellText(column, row_->value() - 1));
    }
  });
  problem_->SetProblem(problem ? problem->Text() : QString());
  ShowDrawing();
  timer_.start();
}

std::vector<std::string> TypedPanel::Values() const {
  std::vector<std::string> values;
  for (int i = 0; i < table_->rowCount(); ++i) {
    const auto* list = qobject_cast<QComboBox*>(table_->cellWidget(i, 1));
    values.push_back((list != nullptr ? list->currentText() : table_->item(i, 1)->text()).trimmed().toStdString());
  }
  return values;
}

void TypedPanel::Predict() {
  if (shown_ == nullptr) {
    return;
  }
  background_.Run([this, model = shown_, values = Values(), generation = ++generation_]() -> Background::Then {
    std::shared_ptr<const FilePrediction> prediction;
    const auto problem = Attempt([&] { prediction = PredictValues(model, values); });
    return [this, prediction, problem, generation] {
      if (generation == generation_) {
        Show(prediction, problem);
      }
    };
  });
}

void TypedPanel::Show(const std::shared_ptr<const FilePrediction>& prediction, const std::optional<Problem>& problem) {
  QString said = problem ? problem->Text() : QString();
  if (!problem && !prediction->answers.has_answer(0)) {
    said = tr("Without a value for %1 there is no answer.").arg(FromText(prediction->answers.without_answer.column));
  }
  if (said.isEmpty()) {
    QStringList notes;
    for (const std::string& note : prediction->answers.Notes()) {
      notes << FromText(note);
    }
    said = (notes + prediction->FarInputs(0)).join(QLatin1Char('\n'));
  }
  problem_->SetProblem(said);
  answer_->setText(problem ? QString() : prediction->Text(0));
  details_->setText(problem ? QString() : DetailsOf(*prediction));
  Q_EMIT Answered();
}

}  // namespace lamina::gui
