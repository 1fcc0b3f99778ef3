// CurvesView: training and validation curves as they grow, decimated to what the screen can show.
#pragma once

#include <QChartView>
#include <QPointF>
#include <QWidget>
#include <vector>

#include "lamina/train/history.h"

class QCheckBox;
class QComboBox;
class QLineSeries;
class QPushButton;
class QScatterSeries;

namespace lamina::gui {

/// At most about 2 * buckets points that look like all of them: of each bucket the lowest and the highest, in order.
std::vector<QPointF> Decimate(const std::vector<QPointF>& points, int buckets);

class CurvesView : public QWidget {
  Q_OBJECT
 public:
  explicit CurvesView(QWidget* parent = nullptr);

  void Clear();
  void Add(const std::vector<EpochRecord>& epochs);
  /// Of a finished run or an opened model.
  void Set(const History& history);

  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  int64_t best_epoch() const { return best_epoch_; }
  int shown_points() const;

  /// The curves as a picture; the type follows the name (.png, .svg). Throws Error(kIo).
  void SavePicture(const QString& path);

 Q_SIGNALS:
  void SaveRequested();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Ranges {
    double x_low, x_high, y_low, y_high;
  };
  void Redraw();
  Ranges WholeRanges(const std::vector<QPointF>& train, const std::vector<QPointF>& validation) const;
  std::vector<QPointF> PointsOf(double EpochRecord::*member) const;
  void SetAxes(const Ranges& ranges);
  void Zoom(bool in);

  QChart* chart_;
  QChartView* view_;
  QLineSeries* train_;
  QLineSeries* validation_;
  QScatterSeries* best_;
  QComboBox* what_;
  QCheckBox* log_;
  QPushButton* save_;
  std::vector<EpochRecord> epochs_;
  int64_t best_epoch_ = 0;
  bool zoomed_ = false;
};

}  // namespace lamina::gui
