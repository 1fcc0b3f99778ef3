// NoticeBar: what happened and what to do. Room for two lines is always there, so that nothing moves when it speaks; a
// longer text has the room it needs. While it has nothing to say it holds what the page is for.
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
  /// After something that went well in silence.
  void ClearProblem();
  void SetHint(const QString& hint);
  bool is_success() const { return mood_ == Mood::kSuccess; }
  /// "" while there is only the hint.
  QString text() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void Fit();
  enum class Mood { kHint, kNote, kSuccess, kProblem };
  void Show(const QString& text, Mood mood);

  QLabel* label_;
  QToolButton* close_;
  QString hint_;
  Mood mood_ = Mood::kHint;
};

}  // namespace lamina::gui
