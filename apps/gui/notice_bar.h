// NoticeBar: what happened and what to do, shown inside the window until it is closed or something newer happens.
#pragma once

#include <QFrame>

#include "problem.h"

class QLabel;

namespace lamina::gui {

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  void ShowProblem(const Problem& problem);
  void ShowNote(const QString& text);
  void Clear() { hide(); }
  QString text() const;

 private:
  void Show(const QString& text, const char* colours);
  QLabel* label_;
};

}  // namespace lamina::gui
