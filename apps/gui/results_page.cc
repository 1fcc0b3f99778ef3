// The fourth page.
#include "results_page.h"

#include <QChartView>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLegend>
#include <QLineSeries>
#include <QScatterSeries>
#include <QStackedWidget>
#include <QTableWidget>
#include <QVBoxLayout>
#include <cmath>

#include "chart_axes.h"
#include "confusion_view.h"
#include "lamina/base/text.h"
#include "problem.h"

namespace lamina::gui {
namespace {

QString Percent(double share) {
  return std::isnan(share) ? QStringLiteral("–") : QString::number(100 * share, 'f', 2) + QStringLiteral(" %");
}

QString Number(double value) { return std::isnan(value) ? QStringLiteral("–") : QString::number(value, 'g', 6); }

void SetCell(QTableWidget& table, int row, int column, const QString& text) {
  auto* item = new QTableWidgetItem(text);
  item->setTextAlignment(column == 0 ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  table.setItem(row, column, item);
}

}  // namespace

QString EvaluationText(const Evaluation& evaluation) {
  const QString rows = FromText(WithThousands(evaluation.samples));
  if (evaluation.classification) {
    const ClassificationMetrics& metrics = *evaluation.classification;
    return QObject::tr("accuracy %1, macro F1 %2, loss %3, %4 rows")
        .arg(Percent(metrics.accuracy), Percent(metrics.macro_f1), QString::number(evaluation.loss, 'g', 5), rows);
  }
  QStringList lines;
  for (const RegressionMetrics& metrics : evaluation.regression) {
    lines << QObject::tr("%1: RMSE %2, MAE %3, R² %4, %5 rows")
                 .arg(FromText(metrics.name), Number(metrics.rmse), Number(metrics.mae),
                      std::isnan(metrics.r2) ? QStringLiteral("–") : QString::number(metrics.r2, 'f', 5), rows);
  }
  return lines.join(QLatin1Char('\n'));
}

ResultsPage::ResultsPage(QWidget* parent)
    : QWidget(parent),
      title_(new QLabel),
      summary_(new QLabel),
      picture_(new QStackedWidget),
      confusion_(new ConfusionView),
      chart_(new QChart),
      scatter_(new QChartView(chart_)),
      table_(new QTableWidget) {
  auto* layout = new QVBoxLayout(this);
  QFont large = title_->font();
  large.setPointSizeF(large.pointSizeF() * 1.3);
  large.setBold(true);
  title_->setFont(large);
  summary_->setObjectName(QStringLiteral("results.summary"));
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  summary_->setAccessibleName(tr("Result"));
  layout->addWidget(title_);
  layout->addWidget(summary_);
  scatter_->setRenderHint(QPainter::Antialiasing);
  scatter_->setObjectName(QStringLiteral("scatter"));
  scatter_->setAccessibleName(tr("Predicted and true values"));
  picture_->addWidget(confusion_);
  picture_->addWidget(scatter_);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setAlternatingRowColors(true);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
  table_->setTabKeyNavigation(false);
  table_->setObjectName(QStringLiteral("results.table"));
  table_->setAccessibleName(tr("Measures"));
  table_->setMinimumWidth(400);
  auto* row = new QHBoxLayout;
  row->addWidget(picture_, 3);
  row->addWidget(table_, 2);
  layout->addLayout(row, 1);
  Clear();
}

void ResultsPage::Clear() {
  title_->setText(tr("No result yet"));
  summary_->setText(tr("Train a network, or open a model and evaluate it on a file."));
  picture_->hide();
  table_->hide();
}

void ResultsPage::Show(const QString& title, const Evaluation& evaluation) {
  title_->setText(title);
  summary_->setText(EvaluationText(evaluation));
  picture_->show();
  table_->show();
  if (evaluation.classification) {
    ShowClasses(*evaluation.classification);
  } else {
    ShowRegression(evaluation);
  }
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
}

void ResultsPage::ShowClasses(const ClassificationMetrics& metrics) {
  picture_->setCurrentWidget(confusion_);
  confusion_->Set(metrics);
  table_->clear();
  table_->setColumnCount(5);
  table_->setHorizontalHeaderLabels({tr("class"), tr("rows"), tr("precision"), tr("recall"), tr("F1")});
  table_->setRowCount(static_cast<int>(metrics.classes.size()));
  int row = 0;
  for (const ClassMetrics& each : metrics.classes) {
    const QString cells[] = {FromText(each.name), FromText(WithThousands(each.support)), Percent(each.precision),
                             Percent(each.recall), Percent(each.f1)};
    for (int column = 0; column < 5; ++column) {
      SetCell(*table_, row, column, cells[column]);
    }
    ++row;
  }
}

void ResultsPage::ShowRegression(const Evaluation& evaluation) {
  picture_->setCurrentWidget(scatter_);
  picture_->setVisible(evaluation.samples > 0);
  chart_->removeAllSeries();
  for (QAbstractAxis* axis : chart_->axes()) {
    chart_->removeAxis(axis);
    delete axis;
  }
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  auto* points = new QScatterSeries;
  points->setName(tr("rows"));
  points->setMarkerSize(5);
  points->setColor(QColor(31, 111, 180, 120));
  points->setBorderColor(Qt::transparent);
  QList<QPointF> list;
  for (const auto& [truth, predicted] : evaluation.points.front()) {
    list.emplaceBack(truth, predicted);
    low = std::min({low, truth, predicted});
    high = std::max({high, truth, predicted});
  }
  if (low < high) {
    points->replace(list);
    auto* exact = new QLineSeries;
    exact->setName(tr("exact"));
    exact->setPen(QPen(QColor(209, 96, 10), 1.5));
    exact->replace(QList<QPointF>{{low, low}, {high, high}});
    chart_->addSeries(points);
    chart_->addSeries(exact);
    const QString name = FromText(evaluation.regression.front().name);
    QAbstractAxis* x = MakeAxis(low, high, false, tr("true %1").arg(name), 6);
    QAbstractAxis* y = MakeAxis(low, high, false, tr("predicted %1").arg(name), 6);
    chart_->addAxis(x, Qt::AlignBottom);
    chart_->addAxis(y, Qt::AlignLeft);
    for (QAbstractSeries* series : chart_->series()) {
      series->attachAxis(x);
      series->attachAxis(y);
    }
    StyleChart(*chart_, palette());
  } else {
    delete points;
  }
  table_->clear();
  const QStringList names{tr("target"), tr("MSE"), tr("RMSE"), tr("MAE"), tr("R²")};
  table_->setColumnCount(static_cast<int>(names.size()));
  table_->setHorizontalHeaderLabels(names);
  table_->setRowCount(static_cast<int>(evaluation.regression.size()));
  int row = 0;
  for (const RegressionMetrics& each : evaluation.regression) {
    const QString cells[] = {FromText(each.name), Number(each.mse), Number(each.rmse), Number(each.mae),
                             Number(each.r2)};
    for (int column = 0; column < 5; ++column) {
      SetCell(*table_, row, column, cells[column]);
    }
    ++row;
  }
}

}  // namespace lamina::gui
