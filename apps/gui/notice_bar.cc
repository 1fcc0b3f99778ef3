// The lines above the pages.
#include "notice_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QToolButton>
#include <algorithm>
#include <utility>

namespace lamina::gui {
namespace {

constexpr int kAround = 10;  // pixels above and below the text together

}  // namespace

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent), label_(new QLabel), close_(new QToolButton(this)) {
  setObjectName(QStringLiteral("notice"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 3, 4, 3);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  label_->setObjectName(QStringLiteral("notice.text"));
  label_->setAccessibleName(tr("Notice"));
  auto* scroll = new QScrollArea;
  scroll->setObjectName(QStringLiteral("notice.scroll"));
  scroll->setWidget(label_);
  scroll->setWidgetResizable(true);
  scroll->viewport()->setAutoFillBackground(false);
  label_->setAutoFillBackground(false);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  close_->setText(QStringLiteral("×"));
  close_->setAutoRaise(true);
  close_->setAccessibleName(tr("Close the notice"));
  connect(close_, &QToolButton::clicked, this, &NoticeBar::Clear);
  layout->addWidget(scroll, 1);
  layout->addWidget(close_, 0, Qt::AlignTop);
  Clear();
}

// As high as the text needs, from two lines to a quarter of the window; the rest of a longer one scrolls.
void NoticeBar::Fit() {
  const QMargins margins = layout()->contentsMargins();
  const int beside = margins.left() + margins.right() + layout()->spacing() + close_->sizeHint().width();
  const int line = fontMetrics().lineSpacing();
  const int needed = label_->heightForWidth(std::max(1, width() - beside));
  const int most = std::max(2 * line, window()->height() / 4);
  setFixedHeight(std::clamp(needed, 2 * line, most) + kAround);
}

void NoticeBar::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  Fit();
}

QString NoticeBar::text() const { return mood_ == Mood::kHint ? QString() : label_->text(); }

void NoticeBar::Show(const QString& text, Mood mood) {
  mood_ = mood;
  label_->setText(text);
  label_->setToolTip(mood == Mood::kHint ? QString() : text);
  close_->setVisible(mood != Mood::kHint);
  Fit();
  update();
}

// Painted, not styled: so it follows the colors of the application when they change.
void NoticeBar::paintEvent(QPaintEvent*) {
  if (mood_ == Mood::kHint) {
    return;
  }
  const bool dark = palette().color(QPalette::Window).lightness() < 128;
  const auto [fill, line] = [&]() -> std::pair<QRgb, QRgb> {
    switch (mood_) {
      case Mood::kSuccess: return dark ? std::pair(0xff20402au, 0xff4c8a5du) : std::pair(0xffe3f1e5u, 0xff6ba576u);
      case Mood::kProblem: return dark ? std::pair(0xff57231eu, 0xffc0665du) : std::pair(0xfffde3e0u, 0xffd0685fu);
      default: return dark ? std::pair(0xff263645u, 0xff4b6a88u) : std::pair(0xffe6eef7u, 0xff8aa9c9u);
    }
  }();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QColor(line));
  painter.setBrush(QColor(fill));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
}

void NoticeBar::ShowProblem(const Problem& problem) {
  Show(problem.remedy.isEmpty() ? problem.what : problem.what + QStringLiteral("\n") + problem.remedy, Mood::kProblem);
}

void NoticeBar::ShowNote(const QString& text) { Show(text, Mood::kNote); }

void NoticeBar::ShowSuccess(const QString& text) { Show(text, Mood::kSuccess); }

void NoticeBar::Clear() { Show(hint_, Mood::kHint); }

void NoticeBar::ClearProblem() {
  if (mood_ == Mood::kProblem) {
    Clear();
  }
}

void NoticeBar::SetHint(const QString& hint) {
  hint_ = hint;
  if (mood_ == Mood::kHint) {
    Clear();
  }
}

}  // namespace lamina::gui
