// NoticeBar: what happened and what to do. Its place is always there, so that nothing moves when it speaks; while it
// has nothing to say it holds what the page is for.
#pragma once

#include <QFrame>

#include "problem.h"

class QLabel;
class QToolButton;

namespace lamina::gui {

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  void ShowProblem(const Problem& problem);
  void ShowNote(const QString& text);     // something to know
  void ShowSuccess(const QString& text);  // something went well
  void Clear();
  void SetHint(const QString& hint);
  /// "" while there is only the hint.
  QString text() const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  enum class Mood { kHint, kNote, kSuccess, kProblem };
  void Show(const QString& text, Mood mood);
  void Colour();

  QLabel* label_;
  QToolButton* close_;
  QString hint_;
  Mood mood_ = Mood::kHint;
};

}  // namespace lamina::gui
