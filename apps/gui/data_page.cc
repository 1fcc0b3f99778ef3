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
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>

#include "labels.h"
#include "lamina/base/text.h"
#include "setting_field.h"
#include "split_editor.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

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
  path_->setReadOnly(true);
  path_->setPlaceholderText(tr("Open a CSV, CSV.gz, IDX or npy file, or drop one anywhere in this window"));
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
  row->addWidget(button(tr("Open folder …"), "data.folder", &DataPage::OpenFolderRequested));
  row->addWidget(button(tr("&Digits example"), "data.digits",
                        [this] { Q_EMIT ExampleRequested(QStringLiteral("digits.csv.gz")); }));
  row->addWidget(button(tr("Stock e&xample"), "data.stocks",
                        [this] { Q_EMIT ExampleRequested(QStringLiteral("stocks.csv.gz")); }));
  grid->addLayout(row, 0, 0);
  summary_ = new QLabel;
  summary_->setObjectName(QStringLiteral("data.summary"));
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
  row->addWidget(new QLabel(tr("Use the selected ones as")));
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
  columns_view_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  columns_view_->horizontalHeader()->setSectionResizeMode(3, QHeaderView::ResizeToContents);  // "2016-01-04 to ..."
  title->setBuddy(columns_view_);
  empty_ =
      new QLabel(tr("<b>No data yet</b><br><br>Drop a table anywhere in this window, or open one.<br>"
                    "To try lamina at once, take the digits: one press here, one on <i>Start training</i>."));
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setObjectName(QStringLiteral("data.empty"));
  (new QVBoxLayout(columns_view_->viewport()))->addWidget(empty_);
  layout->addWidget(columns_view_);
  return box;
}

QWidget* DataPage::MakePreview() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 4, 0, 0);
  auto* title = new QLabel(tr("First ro&ws"));
  auto* view = MakeTable(preview_, tr("First rows of the data set"));
  view->setObjectName(QStringLiteral("preview"));
  view->horizontalHeader()->setDefaultSectionSize(86);
  title->setBuddy(view);
  layout->addWidget(title);
  layout->addWidget(view);
  return box;
}

QWidget* DataPage::MakeChoices() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 4, 0);
  auto* rows = new QGroupBox(tr("Rows"));
  auto* grid = new QGridLayout(rows);
  AddField(*grid, document_, "samples");
  AddField(*grid, document_, "random-samples");
  auto* split = new SplitEditor(document_);
  auto* split_label = new QLabel(LabelOf("split"));
  split_label->setBuddy(split->first());
  grid->addWidget(split_label, grid->rowCount(), 0, 1, 2);
  grid->addWidget(split, grid->rowCount(), 0, 1, 2);
  AddField(*grid, document_, "stratify");
  AddField(*grid, document_, "split-by");
  layout->addWidget(rows);
  layout->addWidget(MakeFieldGroup(tr("Reading"), document_, {"header", "separator", "text-columns"}));
  layout->addWidget(
      MakeFieldGroup(tr("Encoding"), document_, {"task", "encode", "scale", "target-scale", "missing", "unseen"}));
  layout->addStretch();
  auto* scroll = new QScrollArea;
  scroll->setWidget(box);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFixedWidth(380);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  return scroll;
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
  QString text = tr("%1 rows, %2 columns, %3 missing values")
                     .arg(FromText(WithThousands(read.train.rows)),
                          FromText(WithThousands(std::ssize(read.train.columns))), FromText(WithThousands(missing)));
  if (read.test) {
    text += tr("; %1 test rows of their own").arg(FromText(WithThousands(read.test->rows)));
  }
  summary_->setText(text);
  if (columns_->rowCount() > 0) {
    columns_view_->selectRow(columns_->rowCount() - 1);
  }
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
