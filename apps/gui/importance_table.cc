// Bars in the cells of a table.
#include "importance_table.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>

#include "problem.h"

namespace lamina::gui {
namespace {

constexpr int kShareRole = Qt::UserRole;  // of the longest bar

QString Figure(double number) { return QString::number(number, 'g', 4); }

class BarDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const QRect room = option.rect.adjusted(4, 4, -4, -4);
    const double share = std::clamp(index.data(kShareRole).toDouble(), 0.0, 1.0);
    painter->fillRect(QRectF(room.left(), room.top(), share * room.width(), room.height()), QColor(31, 111, 180));
  }
};

}  // namespace

ImportanceTable::ImportanceTable(QWidget* parent) : QTableWidget(parent) {
  setObjectName(QStringLiteral("results.importance"));
  setEditTriggers(NoEditTriggers);
  setAlternatingRowColors(true);
  setTabKeyNavigation(false);
  setTextElideMode(Qt::ElideMiddle);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
  horizontalHeader()->setStretchLastSection(true);
  setItemDelegateForColumn(2, new BarDelegate(this));
}

void ImportanceTable::Set(const Importance& importance) {
  const QString metric = FromText(importance.metric.Title());
  const QString meaning =
      tr("By how much the metric “%1” gets worse where the values of a column are shuffled among the "
         "rows. Columns that say the same share their importance.")
          .arg(metric);
  setToolTip(meaning);
  setAccessibleName(tr("Importance of the columns"));
  setAccessibleDescription(meaning);
  const bool learned = HasLearnedWeights(importance);
  setColumnCount(learned ? 4 : 3);
  QStringList labels{tr("column"), tr("%1, worse by").arg(metric), QString()};
  if (learned) {
    labels.append(tr("learned weight"));
  }
  setHorizontalHeaderLabels(labels);
  double longest = 0;
  for (const ColumnImportance& column : importance.columns) {
    longest = std::max(longest, column.mean);
  }
  setRowCount(static_cast<int>(importance.columns.size()));
  int row = 0;
  for (const ColumnImportance& column : importance.columns) {
    const QString value = Figure(column.mean) +
                          (std::isnan(column.deviation) ? QString() : QStringLiteral(" ± ") + Figure(column.deviation));
    setItem(row, 0, new QTableWidgetItem(FromText(column.column)));
    auto* number = new QTableWidgetItem(value);
    number->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    setItem(row, 1, number);
    auto* bar = new QTableWidgetItem;
    bar->setData(kShareRole, longest > 0 ? column.mean / longest : 0.0);
    setItem(row, 2, bar);
    if (learned) {
      auto* weight = new QTableWidgetItem(Figure(column.weight));
      weight->setToolTip(tr("How much the column counts in the distances between rows; the largest is 1."));
      weight->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      setItem(row, 3, weight);
    }
    ++row;
  }
  resizeColumnsToContents();
  setColumnWidth(0, std::min(columnWidth(0), fontMetrics().averageCharWidth() * 28));
}

}  // namespace lamina::gui
