// The fourth page.
#include "results_page.h"

#include <QChartView>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLegend>
#include <QLineSeries>
#include <QScatterSeries>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "chart_axes.h"
#include "confusion_view.h"
#include "curves_view.h"
#include "importance_table.h"
#include "labels.h"
#include "lamina/base/text.h"
#include "lamina/run/remarks.h"
#include "number_text.h"
#include "problem.h"
#include "run_table.h"
#include "train_worker.h"

namespace lamina::gui {
namespace {

enum ResultTab { kMeasuresTab, kColumnsTab, kRunsTab };

void SetCell(QTableWidget& table, int row, int column, const QString& text) {
  auto* item = new QTableWidgetItem(text);
  item->setTextAlignment(column == 0 ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  table.setItem(row, column, item);
}

// The table of measures beside the picture.
void PrepareMeasures(QTableWidget& table) {
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.setAlternatingRowColors(true);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 8);
  table.setTabKeyNavigation(false);
  table.setObjectName(QStringLiteral("results.table"));
  table.setAccessibleName(ResultsPage::tr("Measures"));
}

}  // namespace

QString EvaluationText(const Evaluation& evaluation) {
  const QString rows = FromText(WithThousands(evaluation.samples));
  if (evaluation.classification) {
    const ClassificationMetrics& metrics = *evaluation.classification;
    const QString loss = std::isnan(evaluation.loss)
                             ? QString()
                             : QObject::tr("loss %1, ").arg(QString::number(evaluation.loss, 'g', 5));
    const QString text = QObject::tr("accuracy %1, macro F1 %2, %3%4 rows")
                             .arg(PercentText(metrics.accuracy), PercentText(metrics.macro_f1), loss, rows);
    return std::isnan(metrics.mean_cost) ? text
                                         : text + QObject::tr(", cost of a row %1").arg(NumberText(metrics.mean_cost));
  }
  QStringList lines;
  for (const RegressionMetrics& metrics : evaluation.regression) {
    lines << QObject::tr("%1: RMSE %2, MAE %3, R² %4, %5 rows")
                 .arg(FromText(metrics.name), NumberText(metrics.rmse), NumberText(metrics.mae),
                      std::isnan(metrics.r2) ? QStringLiteral("–") : QString::number(metrics.r2, 'f', 5), rows);
    if (!metrics.baseline.empty()) {
      lines.back() += QObject::tr("; naive guess %1: MAE %2, RMSE %3, skill %4")
                          .arg(FromText(metrics.baseline), NumberText(metrics.baseline_mae),
                               NumberText(metrics.baseline_rmse), QString::number(metrics.skill, 'f', 3));
    }
  }
  return lines.join(QLatin1Char('\n'));
}

namespace {

// The share of the most frequent class, which always answering with it has right.
double MostFrequentShare(const ClassificationMetrics& metrics, QString* name) {
  const auto most = std::max_element(metrics.classes.begin(), metrics.classes.end(),
                                     [](const auto& a, const auto& b) { return a.support < b.support; });
  *name = FromText(most->name);
  return static_cast<double>(most->support) / static_cast<double>(std::max<int64_t>(1, metrics.samples));
}

}  // namespace

bool IsGood(const Evaluation& evaluation) {
  if (evaluation.classification) {
    QString name;
    const double simple = MostFrequentShare(*evaluation.classification, &name);
    return evaluation.classification->accuracy > (1 + simple) / 2;
  }
  return std::all_of(evaluation.regression.begin(), evaluation.regression.end(),
                     [](const RegressionMetrics& metrics) { return metrics.r2 > 0.5; });
}

QString RemarkOn(const Evaluation& evaluation) {
  if (!evaluation.classification) {
    for (const RegressionMetrics& metrics : evaluation.regression) {
      if (metrics.r2 <= 0) {
        return QObject::tr("No better than always answering the mean of %1.").arg(FromText(metrics.name));
      }
    }
    return {};
  }
  const ClassificationMetrics& metrics = *evaluation.classification;
  QString name;
  const double simple = MostFrequentShare(metrics, &name);
  if (metrics.samples > 0 && metrics.accuracy <= simple && !TellsClassesApart(metrics)) {
    return QObject::tr("No better than always answering “%1” (%2).").arg(name, PercentText(simple));
  }
  for (const ClassMetrics& each : metrics.classes) {
    if (each.support > 0 && std::isnan(each.precision)) {
      return QObject::tr("“%1” is never predicted: try “%2” balanced (page Data).")
          .arg(FromText(each.name), PlainLabelOf("class-weights"));
    }
  }
  return {};
}

QString FoldsText(const TrainOutcome& outcome) {
  QStringList lines;
  for (const MetricSpread& spread : outcome.folds) {
    const QString target = spread.all.target.empty() ? QString() : FromText(spread.all.target) + QStringLiteral(", ");
    lines << QObject::tr("%1 folds, by models that have not seen the rows: %2%3 %4")
                 .arg(outcome.fold_count)
                 .arg(target, FromText(spread.all.metric.Title()), FromText(spread.Text()));
  }
  return lines.join(QLatin1Char('\n'));
}

QString KeptText(const TrainOutcome& outcome) {
  return (outcome.learned_from ? QObject::tr("The model that is kept, on the %1 rows, which it has learned from: %2")
                               : QObject::tr("The model that is kept, on the %1 rows: %2"))
      .arg(outcome.evaluated_on, EvaluationText(*outcome.evaluation));
}

ResultsPage::ResultsPage(RunList& runs, const ModelStore& store, QWidget* parent)
    : QWidget(parent),
      title_(new QLabel),
      summary_(new QLabel),
      picture_(new QStackedWidget),
      confusion_(new ConfusionView),
      chart_(new QChart),
      scatter_(new QChartView(chart_)),
      table_(new QTableWidget),
      importance_(new ImportanceTable),
      tabs_(new QTabWidget),
      runs_(runs),
      run_table_(new RunTable(runs, store)),
      curves_(new CurvesView) {
  auto* layout = new QVBoxLayout(this);
  QFont large = title_->font();
  large.setPointSizeF(large.pointSizeF() * 1.3);
  large.setBold(true);
  title_->setFont(large);
  summary_->setObjectName(QStringLiteral("results.summary"));
  summary_->setWordWrap(true);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  summary_->setAccessibleName(tr("Result"));
  layout->addWidget(title_);
  layout->addWidget(summary_);
  scatter_->setRenderHint(QPainter::Antialiasing);
  scatter_->setObjectName(QStringLiteral("scatter"));
  scatter_->setAccessibleName(tr("Predicted and true values"));
  picture_->addWidget(confusion_);
  picture_->addWidget(scatter_);
  picture_->addWidget(curves_);
  curves_->HideBar();
  PrepareMeasures(*table_);
  scatter_->setMinimumSize(220, 180);
  auto* row = new QHBoxLayout;
  row->addWidget(picture_, 3);
  tabs_->addTab(table_, tr("Measures"));
  tabs_->addTab(importance_, tr("Columns"));
  tabs_->addTab(run_table_, tr("Runs"));
  connect(tabs_, &QTabWidget::currentChanged, this, &ResultsPage::ShowPicture);
  connect(&runs_, &RunList::Changed, this, &ResultsPage::ShowRuns);
  tabs_->setDocumentMode(true);
  tabs_->setObjectName(QStringLiteral("results.tabs"));
  row->addWidget(tabs_, 2);
  layout->addLayout(row, 1);
  Clear();
}

void ResultsPage::Clear() {
  title_->setText(tr("No result yet"));
  summary_->setText(tr("Train a network, or open a model and evaluate it on a file."));
  result_picture_ = nullptr;
  tabs_->setTabVisible(kMeasuresTab, false);
  tabs_->setTabVisible(kColumnsTab, false);
  ShowRuns();
}

void ResultsPage::ShowRuns() {
  tabs_->setTabVisible(kRunsTab, !runs_.runs().empty());
  tabs_->setVisible(result_picture_ != nullptr || !runs_.runs().empty());
  ShowPicture();
}

// Beside the list of runs their curves, beside all else what the result looks like.
void ResultsPage::ShowPicture() {
  QWidget* shown = tabs_->currentWidget() == run_table_ ? curves_ : result_picture_;
  picture_->setVisible(shown != nullptr && !tabs_->isHidden());
  if (shown != nullptr) {
    picture_->setCurrentWidget(shown);
  }
}

void ResultsPage::Show(const QString& title, const TrainOutcome& outcome) {
  Show(title, *outcome.Judgement());
  if (const QString folds = FoldsText(outcome); !folds.isEmpty()) {
    summary_->setText(folds + QLatin1Char('\n') + tr("All these answers together: ") + summary_->text());
  }
  if (outcome.out_of_fold && outcome.evaluation) {
    summary_->setText(summary_->text() + QLatin1Char('\n') + KeptText(outcome));
  }
  if (outcome.importance) {
    importance_->Set(*outcome.importance);
    tabs_->setTabVisible(kColumnsTab, true);
  }
}

void ResultsPage::Show(const QString& title, const Evaluation& evaluation) {
  title_->setText(title);
  const QString remark = RemarkOn(evaluation);
  summary_->setText(EvaluationText(evaluation) + (remark.isEmpty() ? QString() : QLatin1Char('\n') + remark));
  tabs_->setTabVisible(kMeasuresTab, true);
  if (result_picture_ == nullptr || tabs_->currentIndex() == kColumnsTab) {
    tabs_->setCurrentIndex(kMeasuresTab);
  }
  tabs_->setTabVisible(kColumnsTab, false);
  if (evaluation.classification) {
    ShowClasses(*evaluation.classification);
  } else {
    ShowRegression(evaluation);
  }
  ShowRuns();
  table_->resizeColumnsToContents();
  const int most = table_->fontMetrics().averageCharWidth() * 28;
  table_->setColumnWidth(0, std::min(table_->columnWidth(0), most));
}

void ResultsPage::ShowClasses(const ClassificationMetrics& metrics) {
  result_picture_ = confusion_;
  confusion_->Set(metrics);
  table_->clear();
  table_->setColumnCount(5);
  table_->setHorizontalHeaderLabels({tr("class"), tr("rows"), tr("precision"), tr("recall"), tr("F1")});
  table_->setRowCount(static_cast<int>(metrics.classes.size()));
  int row = 0;
  for (const ClassMetrics& each : metrics.classes) {
    const QString cells[] = {FromText(each.name), FromText(WithThousands(each.support)), PercentText(each.precision),
                             PercentText(each.recall), PercentText(each.f1)};
    for (int column = 0; column < 5; ++column) {
      SetCell(*table_, row, column, cells[column]);
    }
    ++row;
  }
}

void ResultsPage::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) {
    StyleChart(*chart_, palette());
  }
  QWidget::changeEvent(event);
}

void ResultsPage::ShowRegression(const Evaluation& evaluation) {
  result_picture_ = evaluation.samples > 0 ? scatter_ : nullptr;
  DrawPredictions(evaluation);
  table_->clear();
  const QStringList names{tr("target"), tr("MSE"), tr("RMSE"), tr("MAE"), tr("R²")};
  table_->setColumnCount(static_cast<int>(names.size()));
  table_->setHorizontalHeaderLabels(names);
  table_->setRowCount(static_cast<int>(evaluation.regression.size()));
  int row = 0;
  for (const RegressionMetrics& each : evaluation.regression) {
    const QString cells[] = {FromText(each.name), NumberText(each.mse), NumberText(each.rmse), NumberText(each.mae),
                             NumberText(each.r2)};
    for (int column = 0; column < 5; ++column) {
      SetCell(*table_, row, column, cells[column]);
    }
    ++row;
  }
}

void ResultsPage::DrawPredictions(const Evaluation& evaluation) {
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
    const double aside = 0.03 * (high - low);  // so that no dot is cut by the frame
    QAbstractAxis* x = MakeAxis(low - aside, high + aside, AxisKind::kNumbers, tr("true %1").arg(name), 5);
    QAbstractAxis* y = MakeAxis(low - aside, high + aside, AxisKind::kNumbers, tr("predicted %1").arg(name), 6);
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
}

}  // namespace lamina::gui
