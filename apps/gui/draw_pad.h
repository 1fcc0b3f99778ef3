// DrawPad: a small picture that is drawn with the mouse, pixel by pixel as a model is fed.
#pragma once

#include <QImage>
#include <QWidget>

namespace lamina::gui {

class DrawPad : public QWidget {
  Q_OBJECT
 public:
  explicit DrawPad(QWidget* parent = nullptr);

  /// An empty picture of this size.
  void SetSize(int width, int height);
  void SetPicture(const QImage& grey);
  const QImage& picture() const { return picture_; }
  void Clear();

  QSize sizeHint() const override { return {168, 168}; }
  QSize minimumSizeHint() const override { return {112, 112}; }

 Q_SIGNALS:
  /// Somebody drew or cleared.
  void Drawn();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QRectF Place() const;
  void DrawTo(const QPointF& at, bool erase);

  QImage picture_;
  QPointF last_;
};

}  // namespace lamina::gui
