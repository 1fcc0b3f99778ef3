// Curves over epochs.
#include "curves_view.h"

#include <QBuffer>
#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QGraphicsLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineSeries>
#include <QMouseEvent>
#include <QScatterSeries>
#include <QShortcut>
#include <QSvgGenerator>
#include <QToolButton>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

#include "chart_axes.h"
#include "lamina/base/file.h"
#include "plain_text.h"

namespace lamina::gui {
namespace {

constexpr int kBuckets = 600;
constexpr QRgb kTrainColour = 0xff1f6fb4;
constexpr QRgb kValidationColour = 0xffd1600a;
constexpr QRgb kBestColour = 0xff2e7d32;
constexpr QRgb kOtherColours[] = {0xffa05fc8, 0xff00a0b0, 0xffb08d2f, 0xffd05088, 0xff7f93a6};

constexpr int kLegendFrom = 180;  // pixels of height: below them the curves need the room

// No wider than its text, so that there is room for a form beside it on a small screen.
QToolButton* MakeButton(const QString& text, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setFocusPolicy(Qt::StrongFocus);
  return button;
}

}  // namespace

std::vector<QPointF> Decimate(const std::vector<QPointF>& points, int buckets) {
  if (std::ssize(points) <= 2 * buckets) {
    return points;
  }
  std::vector<QPointF> chosen;
  const auto by_value = [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); };
  for (int bucket = 0; bucket < buckets; ++bucket) {
    const auto at = [&](int64_t b) { return points.begin() + b * std::ssize(points) / buckets; };
    auto [low, high] = std::minmax_element(at(bucket), at(bucket + 1), by_value);
    if (low > high) {
      std::swap(low, high);
    }
    chosen.push_back(*low);
    if (high != low) {
      chosen.push_back(*high);
    }
  }
  chosen.push_back(points.back());
  return chosen;
}

void CurvesView::PrepareChart() {
  train_->setName(tr("training"));
  train_->setPen(QPen(QColor(kTrainColour), 2));
  validation_->setName(tr("validation"));
  validation_->setPen(QPen(QColor(kValidationColour), 2));
  best_->setMarkerSize(11);
  best_->setColor(QColor(kBestColour));
  best_->setBorderColor(Qt::white);
  for (QAbstractSeries* series : {static_cast<QAbstractSeries*>(train_), static_cast<QAbstractSeries*>(validation_),
                                  static_cast<QAbstractSeries*>(best_)}) {
    chart_->addSeries(series);
  }
  chart_->setAnimationOptions(QChart::NoAnimation);
  chart_->legend()->setAlignment(Qt::AlignTop);
  chart_->legend()->setMarkerShape(QLegend::MarkerShapeFromSeries);
  view_->setRenderHint(QPainter::Antialiasing);
  view_->setRubberBand(QChartView::RectangleRubberBand);
  view_->viewport()->installEventFilter(this);
  view_->setMinimumSize(220, 140);
  view_->setAccessibleName(tr("Training and validation curves"));
  view_->setObjectName(QStringLiteral("curves"));
  view_->setToolTip(tr("Drag a rectangle to look closer; right click to see everything again"));
}

CurvesView::CurvesView(QWidget* parent)
    : QWidget(parent),
      chart_(new QChart),
      view_(new QChartView(chart_, this)),
      train_(new QLineSeries(chart_)),
      validation_(new QLineSeries(chart_)),
      best_(new QScatterSeries(chart_)),
      bar_(new QWidget(this)),
      what_(new QComboBox(this)),
      log_(new QCheckBox(tr("Lo&garithmic"), this)),
      save_(MakeButton(tr("Sa&ve …"), this)) {
  PrepareChart();
  what_->addItems({tr("Loss"), tr("Accuracy")});
  what_->setAccessibleName(tr("What the curves show"));
  what_->setObjectName(QStringLiteral("curves.what"));
  log_->setObjectName(QStringLiteral("curves.log"));
  save_->setObjectName(QStringLiteral("curves.save"));
  save_->setToolTip(tr("Saves the curves as a picture (PNG, SVG) or as a table (CSV)"));
  auto* in = MakeButton(tr("&Zoom in"), this);
  auto* whole = MakeButton(tr("&Whole"), this);
  for (const auto& [key, closer] : {std::pair(Qt::Key_Plus, true), {Qt::Key_0, false}}) {
    auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | key), this);
    connect(shortcut, &QShortcut::activated, this, [this, closer = closer] { Zoom(closer); });
  }
  auto* bar = new QHBoxLayout(bar_);
  bar->setContentsMargins(0, 0, 0, 0);
  bar->addWidget(what_);
  bar->addWidget(log_);
  bar->addStretch();
  bar->addWidget(in);
  bar->addWidget(whole);
  bar->addWidget(save_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(bar_);
  layout->addWidget(view_, 1);
  connect(what_, &QComboBox::currentIndexChanged, this, [this] { Zoom(false); });
  connect(log_, &QCheckBox::toggled, this, [this] { Zoom(false); });
  connect(in, &QToolButton::clicked, this, [this] { Zoom(true); });
  connect(whole, &QToolButton::clicked, this, [this] { Zoom(false); });
  connect(save_, &QToolButton::clicked, this, &CurvesView::SaveRequested);
  Redraw();
}

void CurvesView::Clear() {
  epochs_.clear();
  best_epoch_ = 0;
  zoomed_ = false;
  Redraw();
}

void CurvesView::Add(const std::vector<EpochRecord>& epochs) {
  if (epochs.empty()) {
    return;
  }
  epochs_.insert(epochs_.end(), epochs.begin(), epochs.end());
  best_epoch_ = epochs.back().best_epoch;
  Redraw();
}

void CurvesView::Set(const History& history) {
  epochs_ = history.epochs;
  best_epoch_ = history.best_epoch;
  Redraw();
}

int CurvesView::shown_points() const { return static_cast<int>(train_->count()); }

void CurvesView::SetOthers(std::vector<OtherCurve> others) {
  others_ = std::move(others);
  for (QLineSeries* line : other_lines_) {
    chart_->removeSeries(line);
    delete line;
  }
  other_lines_.clear();
  for (size_t i = 0; i < others_.size(); ++i) {
    auto* line = new QLineSeries(chart_);
    line->setName(ChartText(others_[i].name));
    line->setPen(QPen(QColor(kOtherColours[i % std::size(kOtherColours)]), 1.5, Qt::DashLine));
    chart_->addSeries(line);
    other_lines_.push_back(line);
  }
  Redraw();
}

std::vector<QPointF> CurvesView::PointsOfOther(const std::vector<EpochRecord>& epochs) const {
  const bool loss = what_->currentIndex() == 0;
  const std::vector<QPointF> validation =
      PointsOf(epochs, loss ? &EpochRecord::validation_loss : &EpochRecord::validation_accuracy);
  return validation.empty() ? PointsOf(epochs, loss ? &EpochRecord::train_loss : &EpochRecord::train_accuracy)
                            : validation;
}

std::vector<QPointF> CurvesView::PointsOf(const std::vector<EpochRecord>& epochs, double EpochRecord::*member) const {
  std::vector<QPointF> points;
  points.reserve(epochs.size());
  for (const EpochRecord& record : epochs) {
    double value = record.*member;
    if (log_->isChecked()) {
      value = value > 0 ? std::log10(value) : std::nan("");
    }
    if (std::isfinite(value)) {
      points.emplace_back(static_cast<double>(record.epoch), value);
    }
  }
  return points;
}

void CurvesView::Redraw() {
  const bool loss = what_->currentIndex() == 0;
  const std::vector<QPointF> train = PointsOf(epochs_, loss ? &EpochRecord::train_loss : &EpochRecord::train_accuracy);
  const std::vector<QPointF> validation =
      PointsOf(epochs_, loss ? &EpochRecord::validation_loss : &EpochRecord::validation_accuracy);
  const auto show = [](QLineSeries& series, const std::vector<QPointF>& points) {
    const std::vector<QPointF> shown = Decimate(points, kBuckets);
    series.replace(QList<QPointF>(shown.begin(), shown.end()));
    series.setPointsVisible(points.size() == 1);
    series.setVisible(!points.empty());
  };
  show(*train_, train);
  show(*validation_, validation);
  std::vector<std::vector<QPointF>> all = {train, validation};
  for (size_t i = 0; i < others_.size(); ++i) {
    all.push_back(PointsOfOther(others_[i].epochs));
    show(*other_lines_[i], all.back());
  }
  const std::vector<QPointF>& watched = validation.empty() ? train : validation;
  const auto best = std::find_if(watched.begin(), watched.end(), [this](const QPointF& point) {
    return static_cast<int64_t>(point.x()) == best_epoch_;
  });
  best_->clear();
  best_->setVisible(best != watched.end());
  if (best != watched.end()) {
    best_->append(*best);
    best_->setName(tr("best epoch: %1").arg(best_epoch_));
  }
  if (!zoomed_) {
    SetAxes(WholeRanges(all));
  }
}

CurvesView::Ranges CurvesView::WholeRanges(const std::vector<std::vector<QPointF>>& curves) const {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  double last = 0;
  for (const std::vector<QPointF>& points : curves) {
    for (const QPointF& point : points) {
      last = std::max(last, point.x());
      low = std::min(low, point.y());
      high = std::max(high, point.y());
    }
  }
  if (low > high) {
    low = log_->isChecked() ? -1 : 0;
    high = log_->isChecked() ? 0 : 1;
  }
  const double margin = high > low ? 0.05 * (high - low) : std::max(0.05 * std::fabs(high), 1e-3);
  last = last > 0 ? last : epochs_.empty() ? 10 : static_cast<double>(epochs_.back().epoch);
  const bool from_zero = !log_->isChecked() && low >= 0 && low < 0.5 * high;
  const double aside = 0.02 * std::max(last - 1, 1.0);  // so that the first and the last point are whole
  return {1 - std::min(aside, 0.9), std::max(last, 2.0) + aside, from_zero ? 0 : low - margin, high + margin};
}

void CurvesView::SetAxes(const Ranges& ranges) {
  for (QAbstractAxis* axis : chart_->axes()) {
    chart_->removeAxis(axis);
    delete axis;
  }
  QAbstractAxis* x = MakeAxis(ranges.x_low, ranges.x_high, AxisKind::kWholeNumbers, tr("epoch"), 8);
  QAbstractAxis* y =
      MakeAxis(ranges.y_low, ranges.y_high, log_->isChecked() ? AxisKind::kLogarithmic : AxisKind::kNumbers,
               what_->currentText().toLower(), 6);
  // Without points there is nothing to measure.
  const bool measured = !epochs_.empty() || !others_.empty();
  x->setVisible(measured);
  y->setVisible(measured);
  chart_->addAxis(x, Qt::AlignBottom);
  chart_->addAxis(y, Qt::AlignLeft);
  for (QAbstractSeries* series : chart_->series()) {
    series->attachAxis(x);
    series->attachAxis(y);
  }
  StyleChart(*chart_, palette());
}

void CurvesView::Zoom(bool in) {
  zoomed_ = in;
  if (!in) {
    Redraw();
    return;
  }
  const QRectF area = chart_->plotArea();  // the right half, where training goes on
  const QPointF low = chart_->mapToValue(QPointF(area.center().x(), area.bottom()));
  const QPointF high = chart_->mapToValue(area.topRight());
  Ranges ranges{low.x(), high.x(), low.y(), high.y()};
  double y_low = HUGE_VAL;
  double y_high = -HUGE_VAL;
  for (const QLineSeries* series : {train_, validation_}) {
    for (const QPointF& point : series->points()) {
      if (point.x() >= ranges.x_low && point.x() <= ranges.x_high) {
        y_low = std::min(y_low, point.y());
        y_high = std::max(y_high, point.y());
      }
    }
  }
  if (y_low < y_high) {
    ranges.y_low = y_low - 0.05 * (y_high - y_low);
    ranges.y_high = y_high + 0.05 * (y_high - y_low);
  }
  SetAxes(ranges);
}

// Our own zoom after the rubber band: Qt's would keep the ticks of the whole range.
bool CurvesView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseButtonRelease) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    if (mouse->button() == Qt::RightButton) {
      Zoom(false);
      return true;
    }
    const auto* band = view_->findChild<QRubberBand*>();
    const QRect rectangle = band != nullptr && band->isVisible() ? band->geometry() : QRect();
    if (rectangle.width() > 8 && rectangle.height() > 8) {
      const QPointF low = chart_->mapToValue(chart_->mapFromScene(view_->mapToScene(rectangle.bottomLeft())));
      const QPointF high = chart_->mapToValue(chart_->mapFromScene(view_->mapToScene(rectangle.topRight())));
      const_cast<QRubberBand*>(band)->hide();
      view_->setRubberBand(QChartView::NoRubberBand);
      view_->setRubberBand(QChartView::RectangleRubberBand);
      zoomed_ = true;
      SetAxes({low.x(), high.x(), low.y(), high.y()});
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

void CurvesView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) {
    StyleChart(*chart_, palette());
  }
  QWidget::changeEvent(event);
}

void CurvesView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  chart_->legend()->setVisible(height() - (bar_->isHidden() ? 0 : bar_->height()) >= kLegendFrom);
}

void CurvesView::SavePicture(const QString& path) {
  QBuffer picture;  // in memory first: a file is whole or absent
  picture.open(QIODevice::WriteOnly);
  const QRectF from = chart_->scene()->sceneRect();
  if (path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
    QSvgGenerator generator;
    generator.setOutputDevice(&picture);
    generator.setSize(from.size().toSize());
    generator.setViewBox(QRectF(QPointF(0, 0), from.size()));
    QPainter painter(&generator);
    chart_->scene()->render(&painter, QRectF(QPointF(0, 0), from.size()), from);
    painter.end();
    WriteFileAtomically(path.toStdString(), picture.data().toStdString());
    return;
  }
  QImage image(from.size().toSize() * 2, QImage::Format_RGB32);
  image.fill(palette().color(QPalette::Base));
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  chart_->scene()->render(&painter, image.rect(), from);
  painter.end();
  image.save(&picture, "PNG");
  WriteFileAtomically(path.toStdString(), picture.data().toStdString());
}

}  // namespace lamina::gui
