// NetworkPicture: the layers as columns of neurons, with their sizes, synapses and activations.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

namespace lamina::gui {

/// A column of the picture.
struct LayerView {
  QString title;    // "input", "hidden 1"
  QString neurons;  // "64", "?"
  QString neuron;   // "dot · relu"; empty for the input
  int64_t count = 0;
};

class NetworkPicture : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkPicture(QWidget* parent = nullptr);
  void Set(std::vector<LayerView> layers);
  const std::vector<LayerView>& layers() const { return layers_; }
  QSize sizeHint() const override { return {520, 360}; }
  QSize minimumSizeHint() const override { return {180, 160}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void PaintEdges(QPainter& painter, const std::vector<std::vector<QPointF>>& columns) const;
  void PaintText(QPainter& painter, const LayerView& layer, const QRectF& place) const;

  std::vector<LayerView> layers_;
};

}  // namespace lamina::gui
