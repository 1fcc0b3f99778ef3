// FormScroll: a form that keeps the width it needs where there is room, and scrolls where there is not.
#pragma once

#include <QScrollArea>

namespace lamina::gui {

/// The wheel scrolls the page, wherever the pointer is: no field of the form takes a value from it.
class FormScroll : public QScrollArea {
  Q_OBJECT
 public:
  explicit FormScroll(QWidget* form, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void Watch(QWidget& widget);
};

}  // namespace lamina::gui
