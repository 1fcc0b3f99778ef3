// A coloured line above the pages.
#include "notice_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace lamina::gui {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent), label_(new QLabel(this)) {
  setObjectName(QStringLiteral("notice"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 6, 6, 6);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  label_->setObjectName(QStringLiteral("notice.text"));
  label_->setAccessibleName(tr("Notice"));
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("×"));
  close->setAutoRaise(true);
  close->setAccessibleName(tr("Close the notice"));
  connect(close, &QToolButton::clicked, this, &NoticeBar::Clear);
  layout->addWidget(label_, 1);
  layout->addWidget(close, 0, Qt::AlignTop);
  hide();
}

QString NoticeBar::text() const { return isHidden() ? QString() : label_->text(); }

void NoticeBar::Show(const QString& text, const char* colours) {
  setStyleSheet(
      QStringLiteral("#notice { %1 border-radius: 4px; } #notice QLabel, #notice QToolButton { color: #1b1b1b; }")
          .arg(QLatin1String(colours)));
  label_->setText(text);
  show();
}

void NoticeBar::ShowProblem(const Problem& problem) {
  Show(problem.remedy.isEmpty() ? problem.what : problem.what + QStringLiteral("\n") + problem.remedy,
       "background: #fde3e0; border: 1px solid #d0685f;");
}

void NoticeBar::ShowNote(const QString& text) { Show(text, "background: #e3f1e5; border: 1px solid #6ba576;"); }

}  // namespace lamina::gui
