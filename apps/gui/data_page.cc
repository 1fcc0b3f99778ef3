// The first page.
#include "data_page.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>

#include "form_scroll.h"
#include "labels.h"
#include "lamina/data/encode/decisions.h"
#include "level_switch.h"
#include "number_text.h"
#include "pictures.h"
#include "setting_field.h"
#include "split_editor.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

constexpr int kPictureSize = 44;  // pixels of the screen
constexpr int64_t kPicturesShown = 120;

QTableView* MakeTable(QAbstractItemModel* model, const QString& name) {
  auto* view = new QTableView;
  view->setModel(model);
  view->setAlternatingRowColors(true);
  view->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view->setAccessibleName(name);
  view->setTabKeyNavigation(false);  // Tab leaves the table
  view->setWordWrap(false);
  view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + 8);
  view->horizontalHeader()->setHighlightSections(false);
  view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  return view;
}

}  // namespace

QString ExamplePath(const QString& name) {
  const QDir program(QCoreApplication::applicationDirPath());
  for (const char* folder : {"../share/lamina/data", "../../data", "../../../data", "../../../../data"}) {
    const QFileInfo file(program.filePath(QLatin1String(folder) + QLatin1Char('/') + name));
    if (file.isFile()) {
      return file.canonicalFilePath();
    }
  }
  return {};
}

DataPage::DataPage(RunDocument& document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      columns_(new ColumnsModel(document, this)),
      preview_(new PreviewModel(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(MakeSource());
  auto* tables = new QSplitter(Qt::Vertical);
  tables->addWidget(MakeColumns());
  tables->addWidget(MakePreview());
  tables->setStretchFactor(0, 1);
  tables->setStretchFactor(1, 1);
  tables->setChildrenCollapsible(false);
  auto* halves = new QHBoxLayout;
  halves->addWidget(tables, 1);
  halves->addWidget(MakeChoices());
  layout->addLayout(halves, 1);
  connect(&document_, &RunDocument::DataChanged, this, &DataPage::ShowData);
  connect(&document_, &RunDocument::SettingsChanged, this, &DataPage::ShowUses);
  ShowData();
}

QWidget* DataPage::MakeSource() {
  auto* box = new QWidget;
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  path_ = new QLineEdit;
  path_->setPlaceholderText(
      tr("A CSV, .xlsx, .ods, IDX or npy file: its path and Enter, or drop it anywhere in this window"));
  path_->setToolTip(tr("Type or paste a path and press Enter"));
  path_->setMinimumWidth(120);
  connect(path_, &QLineEdit::returnPressed, this, [this] {
    if (const QString path = path_->text().trimmed(); !path.isEmpty()) {
      Q_EMIT PathTyped(path);
    }
  });
  path_->setAccessibleName(tr("Dataset"));
  path_->setObjectName(QStringLiteral("data.path"));
  auto* label = new QLabel(tr("Dataset"));
  label->setBuddy(path_);
  const auto button = [&](const QString& text, const char* name, auto slot) {
    auto* made = new QPushButton(text);
    made->setObjectName(QLatin1String(name));
    connect(made, &QPushButton::clicked, this, slot);
    return made;
  };
  auto* row = new QHBoxLayout;
  row->addWidget(label);
  row->addWidget(path_, 1);
  row->addWidget(button(tr("&Open file …"), "data.open", &DataPage::OpenRequested));
  row->addWidget(button(tr("Open fo&lder …"), "data.folder", &DataPage::OpenFolderRequested));
  row->addWidget(button(tr("Digits e&xample"), "data.digits",
                        [this] { Q_EMIT ExampleRequested(QStringLiteral("digits.csv.gz")); }));
  row->addWidget(button(tr("Stock exa&mple"), "data.stocks",
                        [this] { Q_EMIT ExampleRequested(QStringLiteral("stocks.csv.gz")); }));
  grid->addLayout(row, 0, 0);
  summary_ = new QLabel;
  summary_->setObjectName(QStringLiteral("data.summary"));
  summary_->setWordWrap(true);
  grid->addWidget(summary_, 1, 0);
  return box;
}

QWidget* DataPage::MakeColumns() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* row = new QHBoxLayout;
  auto* title = new QLabel(tr("Columns"));
  row->addWidget(title);
  row->addStretch();
  row->addWidget(new QLabel(tr("Use selected as")));
  const QString texts[] = {tr("&Input"), tr("Tar&get"), tr("D&ropped")};
  for (int use = 0; use < 3; ++use) {
    auto* button = new QPushButton(texts[use]);
    button->setObjectName(QStringLiteral("columns.use%1").arg(use));
    connect(button, &QPushButton::clicked, this, [this, use] { SetUse(use); });
    use_buttons_.push_back(button);
    row->addWidget(button);
  }
  layout->addLayout(row);
  columns_view_ = MakeTable(columns_, tr("Columns of the data set"));
  columns_view_->setObjectName(QStringLiteral("columns"));
  columns_view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  columns_view_->horizontalHeader()->setStretchLastSection(true);
  columns_view_->setProperty("settings", QStringList{QStringLiteral("target"), QStringLiteral("drop")});
  title->setBuddy(columns_view_);
  empty_ =
      new QLabel(tr("<b>No data yet</b><br><br>Drop a table anywhere in this window, or open one.<br>"
                    "To try lamina at once, take the digits: one press here, one on <i>Start training</i>."));
  empty_->setTextFormat(Qt::RichText);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setObjectName(QStringLiteral("data.empty"));
  (new QVBoxLayout(columns_view_->viewport()))->addWidget(empty_);
  layout->addWidget(columns_view_);
  return box;
}

QWidget* DataPage::MakePreview() {
  preview_view_ = MakeTable(preview_, tr("First rows of the data set"));
  preview_view_->setObjectName(QStringLiteral("preview"));
  samples_ = new QTabWidget;
  pictures_ = new QListWidget(samples_);
  pictures_->hide();
  pictures_->setViewMode(QListView::IconMode);
  pictures_->setMovement(QListView::Static);
  pictures_->setResizeMode(QListView::Adjust);
  pictures_->setUniformItemSizes(true);
  pictures_->setIconSize({kPictureSize, kPictureSize});
  pictures_->setObjectName(QStringLiteral("preview.pictures"));
  pictures_->setAccessibleName(tr("First rows as pictures"));
  samples_->setDocumentMode(true);
  samples_->setObjectName(QStringLiteral("samples"));
  samples_->addTab(preview_view_, tr("First ro&ws"));
  return samples_;
}

// What a row looks like, with its target below.
void DataPage::ShowPictures() {
  const auto data = document_.data();
  const Table& table = data->raw.main.train;
  std::vector<int64_t> others;
  for (int64_t i = 0; i < columns_->rowCount(); ++i) {
    if (columns_->UseOf(static_cast<int>(i)) != ColumnUse::kInput) {
      others.push_back(i);
    }
  }
  const auto form = others.empty() ? std::nullopt : PicturesIn(table, others);
  pictures_->clear();
  const int at = samples_->indexOf(pictures_);
  if (!form) {
    if (at >= 0) {
      samples_->removeTab(at);
      pictures_->hide();
    }
    return;
  }
  for (int64_t row = 0; row < std::min(table.rows, kPicturesShown); ++row) {
    const QImage picture = PictureOf(table, *form, row).scaled(kPictureSize, kPictureSize, Qt::KeepAspectRatio);
    pictures_->addItem(new QListWidgetItem(QIcon(QPixmap::fromImage(picture)),
                                           CellText(table.columns[static_cast<size_t>(others.front())], row)));
  }
  if (at < 0) {
    samples_->addTab(pictures_, tr("As pictures"));
  }
}

QWidget* DataPage::MakeChoices() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 4, 0);
  auto* rows = new QGroupBox(tr("Rows"));
  auto* grid = new QGridLayout(rows);
  AddField(*grid, document_, "effort");
  AddField(*grid, document_, "time-limit");
  AddField(*grid, document_, "nested");
  AddField(*grid, document_, "state");
  AddField(*grid, document_, "samples");
  AddField(*grid, document_, "random-samples");
  auto* split = new SplitEditor(document_);
  split->setProperty("settings", QStringList{QStringLiteral("split")});
  auto* split_label = new QLabel(LabelOf("split"));
  split_label->setBuddy(split->first());
  grid->addWidget(split_label, grid->rowCount(), 0, 1, 2);
  grid->addWidget(split, grid->rowCount(), 0, 1, 2);
  AddField(*grid, document_, "folds");
  AddField(*grid, document_, "bag");
  AddField(*grid, document_, "group");
  AddField(*grid, document_, "stratify");
  AddField(*grid, document_, "split-by");
  AddField(*grid, document_, "validation");
  AddField(*grid, document_, "test");
  layout->addWidget(rows);
  layout->addWidget(MakeFieldGroup(tr("Reading"), document_,
                                   {"header", "header-line", "around", "separator", "decimal", "date-order",
                                    "text-columns", "missing-values", "encoding", "sheet", "strict"}));
  layout->addWidget(
      MakeFieldGroup(tr("Encoding"), document_,
                     {"task", "encode", "min-count", "max-categories", "text", "text-inputs", "numbers", "bins",
                      "scale", "dates", "target-scale", "missing", "missing-indicator", "unseen", "use", "select"}));
  layout->addWidget(
      MakeFieldGroup(tr("What counts"), document_,
                     {"class-weights", "weight-column", "soft-target", "cost-matrix", "baseline", "class-map"}));
  layout->addWidget(MakeFieldGroup(tr("Computed columns"), document_, {"derive", "series-by", "order-by"}));
  layout->addWidget(MakeResetButton(document_, *this), 0, Qt::AlignLeft);
  layout->addStretch();
  layout->insertWidget(0, new LevelSwitch(document_, *box));
  return new FormScroll(box);
}

void DataPage::ShowData() {
  const auto data = document_.data();
  preview_->Set(data);
  for (QPushButton* button : use_buttons_) {
    button->setEnabled(data != nullptr);
  }
  empty_->setVisible(data == nullptr);
  ShowUses();
  if (data == nullptr) {
    return;
  }
  const ReadResult& read = data->raw.main;
  path_->setText(QDir::toNativeSeparators(data->path));
  int64_t missing = 0;
  for (const ColumnSummary& summary : data->summaries) {
    missing += summary.missing;
  }
  QString text = tr("%1, %2, %3")
                     .arg(CountText(read.train.rows, tr("row"), tr("rows")),
                          CountText(std::ssize(read.train.columns), tr("column"), tr("columns")),
                          CountText(missing, tr("missing value"), tr("missing values")));
  int64_t odd = 0;
  for (const Column& column : read.train.columns) {
    odd += column.odd.count();
  }
  if (odd > 0) {
    text += tr(" (%1 not empty, but no number: marked below)").arg(CountText(odd, tr("of them is"), tr("of them are")));
  }
  if (read.test) {
    text += tr("; and %1 for testing in a file of their own").arg(CountText(read.test->rows, tr("row"), tr("rows")));
  }
  for (const ColumnDecision& decision : DecisionsOnFile(read.train)) {
    text += QLatin1Char('\n') + WithLabels(FromText(decision.Text()));
  }
  summary_->setText(text);
  if (columns_->rowCount() > 0) {
    columns_view_->selectRow(columns_->rowCount() - 1);
  }
  FitColumns(*columns_view_);
  FitColumns(*preview_view_);
  ShowPictures();
  samples_->setCurrentIndex(samples_->count() - 1);  // pictures, where there are any
}

void DataPage::ShowUses() { summary_->setVisible(document_.data() != nullptr); }

void DataPage::SetUse(int use) {
  std::vector<int> columns;
  for (const QModelIndex& index : columns_view_->selectionModel()->selectedRows()) {
    columns.push_back(index.row());
  }
  columns_->SetUse(columns, static_cast<ColumnUse>(use));
}

}  // namespace lamina::gui
