// Two lines above the pages.
#include "notice_bar.h"

#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QToolButton>

namespace lamina::gui {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent), label_(new QLabel), close_(new QToolButton(this)) {
  setObjectName(QStringLiteral("notice"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 3, 4, 3);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  label_->setObjectName(QStringLiteral("notice.text"));
  label_->setAccessibleName(tr("Notice"));
  auto* scroll = new QScrollArea;  // the few messages longer than two lines
  scroll->setObjectName(QStringLiteral("notice.scroll"));
  scroll->setWidget(label_);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  close_->setText(QStringLiteral("×"));
  close_->setAutoRaise(true);
  close_->setAccessibleName(tr("Close the notice"));
  connect(close_, &QToolButton::clicked, this, &NoticeBar::Clear);
  layout->addWidget(scroll, 1);
  layout->addWidget(close_, 0, Qt::AlignTop);
  setFixedHeight(2 * fontMetrics().lineSpacing() + 10);
  Clear();
}

QString NoticeBar::text() const { return mood_ == Mood::kHint ? QString() : label_->text(); }

void NoticeBar::Show(const QString& text, Mood mood) {
  mood_ = mood;
  label_->setText(text);
  label_->setToolTip(mood == Mood::kHint ? QString() : text);
  close_->setVisible(mood != Mood::kHint);
  Colour();
}

void NoticeBar::Colour() {
  const QPalette colours_of_all = QGuiApplication::palette();  // its own has what the sheet made of it
  const bool dark = colours_of_all.color(QPalette::Window).lightness() < 128;
  const auto colours = [&]() -> const char* {
    switch (mood_) {
      case Mood::kHint: return "background: transparent; border: 1px solid transparent;";
      case Mood::kNote:
        return dark ? "background: #263645; border: 1px solid #4b6a88;"
                    : "background: #e6eef7; border: 1px solid #8aa9c9;";
      case Mood::kSuccess:
        return dark ? "background: #20402a; border: 1px solid #4c8a5d;"
                    : "background: #e3f1e5; border: 1px solid #6ba576;";
      case Mood::kProblem:
        return dark ? "background: #57231e; border: 1px solid #c0665d;"
                    : "background: #fde3e0; border: 1px solid #d0685f;";
    }
    return "";
  }();
  const QString sheet =
      QStringLiteral(
          "#notice { %1 border-radius: 4px; } #notice QScrollArea, #notice QLabel { background: transparent; color: "
          "%2; }")
          .arg(QLatin1String(colours), mood_ == Mood::kHint ? colours_of_all.color(QPalette::WindowText).name()
                                       : dark               ? QStringLiteral("#f0f0f0")
                                                            : QStringLiteral("#1b1b1b"));
  if (sheet != styleSheet()) {
    setStyleSheet(sheet);
  }
}

void NoticeBar::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::ApplicationPaletteChange ||
      event->type() == QEvent::StyleChange) {
    Colour();
  }
  QFrame::changeEvent(event);
}

void NoticeBar::ShowProblem(const Problem& problem) {
  Show(problem.remedy.isEmpty() ? problem.what : problem.what + QStringLiteral("\n") + problem.remedy, Mood::kProblem);
}

void NoticeBar::ShowNote(const QString& text) { Show(text, Mood::kNote); }

void NoticeBar::ShowSuccess(const QString& text) { Show(text, Mood::kSuccess); }

void NoticeBar::Clear() { Show(hint_, Mood::kHint); }

void NoticeBar::SetHint(const QString& hint) {
  hint_ = hint;
  if (mood_ == Mood::kHint) {
    Clear();
  }
}

}  // namespace lamina::gui
