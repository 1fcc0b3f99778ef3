// ConfusionView: a confusion matrix as coloured cells with their counts.
#pragma once

#include <QWidget>

#include "lamina/model/metrics.h"

namespace lamina::gui {

class ConfusionView : public QWidget {
  Q_OBJECT
 public:
  explicit ConfusionView(QWidget* parent = nullptr);
  void Set(const ClassificationMetrics& metrics);
  const ClassificationMetrics& metrics() const { return metrics_; }
  QSize minimumSizeHint() const override { return {220, 180}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Grid {
    QRectF cells;
    double cell;
  };
  Grid Layout(const QFontMetrics& metrics) const;
  void PaintCells(QPainter& painter, const Grid& grid) const;
  void PaintNames(QPainter& painter, const Grid& grid) const;

  ClassificationMetrics metrics_;
};

}  // namespace lamina::gui
