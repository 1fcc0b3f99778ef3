// Showing the runs.
#include "run_table.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "model_store.h"
#include "number_text.h"

namespace lamina::gui {
namespace {

constexpr int kNameColumn = 0;
constexpr int kSettingsColumn = 2;
constexpr int kWidestCell_letters = 34;
constexpr int kLeastSettings_letters = 22;

}  // namespace

RunTable::RunTable(RunList& runs, const ModelStore& store, QWidget* parent)
    : QWidget(parent),
      runs_(runs),
      store_(store),
      table_(new QTableWidget),
      model_(new QPushButton(tr("Ta&ke its model"))),
      settings_(new QPushButton(tr("Use its sett&ings"))),
      remove_(new QPushButton(tr("Re&move"))) {
  table_->setObjectName(QStringLiteral("runs.table"));
  table_->setAccessibleName(tr("Runs"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  table_->setAlternatingRowColors(true);
  table_->setWordWrap(true);  // settings may be many
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
  table_->setColumnCount(4);
  table_->setHorizontalHeaderLabels({tr("run"), tr("result"), tr("differs in"), tr("of")});
  table_->setToolTip(tr("Tick a run to lay its curve over the present one; press F2 to name it"));
  model_->setObjectName(QStringLiteral("runs.model"));
  model_->setToolTip(tr("The model of the run becomes the one at hand again"));
  settings_->setObjectName(QStringLiteral("runs.settings"));
  settings_->setToolTip(tr("All pages show the settings of the run again; Edit > Undo takes it back"));
  remove_->setObjectName(QStringLiteral("runs.remove"));
  auto* row = new QHBoxLayout;
  row->addWidget(model_);
  row->addWidget(settings_);
  row->addStretch();
  row->addWidget(remove_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(table_, 1);
  layout->addLayout(row);
  connect(table_, &QTableWidget::itemChanged, this, &RunTable::Take);
  connect(table_, &QTableWidget::itemSelectionChanged, this, &RunTable::ShowButtons);
  connect(model_, &QPushButton::clicked, this,
          [this] { Q_EMIT ModelRequested(runs_.runs()[static_cast<size_t>(Chosen())].outcome); });
  connect(settings_, &QPushButton::clicked, this,
          [this] { Q_EMIT SettingsRequested(runs_.runs()[static_cast<size_t>(Chosen())].settings); });
  connect(remove_, &QPushButton::clicked, this, [this] { runs_.Remove(static_cast<size_t>(Chosen())); });
  connect(&runs_, &RunList::Changed, this, &RunTable::Show);
  connect(&store_, &ModelStore::Changed, this, &RunTable::Show);
  Show();
}

int RunTable::Chosen() const {
  const QList<QTableWidgetItem*> items = table_->selectedItems();
  return items.isEmpty() ? -1 : items.front()->row();
}

void RunTable::Show() {
  const int before = Chosen();
  const QSignalBlocker blocker(table_);
  const std::vector<KeptRun>& runs = runs_.runs();
  table_->setRowCount(static_cast<int>(runs.size()));
  for (size_t i = 0; i < runs.size(); ++i) {
    const KeptRun& run = runs[i];
    const QString cells[] = {run.name, run.result, runs_.Differences(i), run.rows};
    const bool present = run.outcome != nullptr && run.outcome->model == store_.model();
    for (int column = 0; column < table_->columnCount(); ++column) {
      auto* item = new QTableWidgetItem(cells[column]);
      item->setToolTip(cells[column]);
      Qt::ItemFlags flags = Qt::ItemIsSelectable | Qt::ItemIsEnabled;
      if (column == kNameColumn) {
        flags |= Qt::ItemIsEditable | Qt::ItemIsUserCheckable;
        item->setCheckState(run.overlaid ? Qt::Checked : Qt::Unchecked);
        QFont font = item->font();
        font.setBold(present);
        item->setFont(font);
      }
      item->setFlags(flags);
      table_->setItem(static_cast<int>(i), column, item);
    }
  }
  Fit();
  if (!runs.empty()) {
    table_->selectRow(before < 0 ? static_cast<int>(runs.size()) - 1 : std::min(before, table_->rowCount() - 1));
  }
  ShowButtons();
}

// The settings have the rest of the width, or what they need at the least.
void RunTable::Fit() {
  const int letter = table_->fontMetrics().averageCharWidth();
  int rest = table_->viewport()->width();
  for (int column = 0; column < table_->columnCount(); ++column) {
    if (column != kSettingsColumn) {
      table_->resizeColumnToContents(column);
      table_->setColumnWidth(column, std::min(table_->columnWidth(column), letter * kWidestCell_letters));
      rest -= table_->columnWidth(column);
    }
  }
  table_->setColumnWidth(kSettingsColumn, std::max(rest, letter * kLeastSettings_letters));
  table_->resizeRowsToContents();
}

void RunTable::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  Fit();
}

void RunTable::ShowButtons() {
  const int run = Chosen();
  remove_->setEnabled(run >= 0);
  settings_->setEnabled(run >= 0);
  const auto outcome = run < 0 ? nullptr : runs_.runs()[static_cast<size_t>(run)].outcome;
  model_->setEnabled(outcome != nullptr && outcome->model != store_.model());
}

// A tick or a name. Later: the list fills the table anew, which must not happen under its own editor.
void RunTable::Take(QTableWidgetItem* item) {
  if (item->column() != kNameColumn) {
    return;
  }
  const auto run = static_cast<size_t>(item->row());
  const bool overlaid = item->checkState() == Qt::Checked;
  QMetaObject::invokeMethod(
      this,
      [this, run, overlaid, name = item->text()] {
        if (run < runs_.runs().size()) {
          runs_.Overlay(run, overlaid);
          runs_.Rename(run, name);
        }
      },
      Qt::QueuedConnection);
}

}  // namespace lamina::gui
