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
class QToolButton;
class QScatterSeries;

namespace lamina::gui {

/// A former run whose curve is laid over.
struct OtherCurve {
  QString name;
  std::vector<EpochRecord> epochs;
};

/// At most about 2 * buckets points that look like all of them: of each bucket the lowest and the highest, in order.
std::vector<QPointF> Decimate(const std::vector<QPointF>& points, int buckets);

class CurvesView : public QWidget {
  Q_OBJECT
 public:
  explicit CurvesView(QWidget* parent = nullptr);

  void Clear();
  void Add(const std::vector<EpochRecord>& epochs);
  /// Shows the curves of a finished run or an opened model.
  void Set(const History& history);

  /// Curves of other runs, dashed: on validation rows, or on training rows where there are no others.
  void SetOthers(std::vector<OtherCurve> others);
  const std::vector<OtherCurve>& others() const { return others_; }
  /// Without the controls above.
  void HideBar() { bar_->hide(); }

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
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Ranges {
    double x_low, x_high, y_low, y_high;
  };
  void PrepareChart();
  void Redraw();
  Ranges WholeRanges(const std::vector<std::vector<QPointF>>& curves) const;
  std::vector<QPointF> PointsOf(const std::vector<EpochRecord>& epochs, double EpochRecord::*member) const;
  std::vector<QPointF> PointsOfOther(const std::vector<EpochRecord>& epochs) const;
  void SetAxes(const Ranges& ranges);
  void Zoom(bool in);

  QChart* chart_;
  QChartView* view_;
  QLineSeries* train_;
  QLineSeries* validation_;
  QScatterSeries* best_;
  QWidget* bar_;
  std::vector<OtherCurve> others_;
  std::vector<QLineSeries*> other_lines_;  // of them
  QComboBox* what_;
  QCheckBox* log_;
  QToolButton* save_;
  std::vector<EpochRecord> epochs_;
  int64_t best_epoch_ = 0;
  bool zoomed_ = false;
};

}  // namespace lamina::gui
