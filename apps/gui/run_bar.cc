// The bar below the pages.
#include "run_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <algorithm>
#include <cmath>

#include "lamina/base/text.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

constexpr int kProgressSteps = 1000;
constexpr int kUpdate_ms = 100;

constexpr const char* kStartStyle =
    "QPushButton { padding: 5px 14px; border-radius: 4px; }"
    "QPushButton:enabled { background: #1a5fa8; color: white; border: 1px solid #134a85; }"
    "QPushButton:enabled:hover { background: #2270c2; }"
    "QPushButton:enabled:pressed { background: #134a85; }"
    "QPushButton:enabled:focus { border: 2px solid #ffb000; }"
    "QPushButton:disabled { border: 1px solid palette(mid); color: palette(mid); }";

}  // namespace

RunBar::RunBar(RunDocument& document, TrainWorker& worker, QWidget* parent)
    : QFrame(parent),
      document_(document),
      worker_(worker),
      text_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      start_(new QPushButton(tr("&Start training"), this)),
      pause_(new QPushButton(tr("Pa&use"), this)),
      stop_(new QPushButton(tr("S&top"), this)),
      go_on_(new QPushButton(tr("Go o&n"), this)) {
  setFrameShape(QFrame::StyledPanel);
  setObjectName(QStringLiteral("run.bar"));
  auto* layout = new QHBoxLayout(this);
  text_->setWordWrap(true);
  text_->setMinimumHeight(3 * text_->fontMetrics().lineSpacing());
  text_->setObjectName(QStringLiteral("run.text"));
  text_->setAccessibleName(tr("State of the run"));
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  progress_->setRange(0, kProgressSteps);
  progress_->setMinimumWidth(80);
  progress_->setMaximumWidth(180);
  progress_->setAccessibleName(tr("Progress of the training"));
  progress_->setObjectName(QStringLiteral("run.progress"));
  layout->addWidget(text_, 1);
  layout->addWidget(progress_);
  const std::pair<QPushButton*, const char*> buttons[] = {
      {start_, "run.start"}, {pause_, "run.pause"}, {stop_, "run.stop"}, {go_on_, "run.goon"}};
  for (const auto& [button, name] : buttons) {
    button->setObjectName(QLatin1String(name));
    button->setMinimumWidth(72);
    layout->addWidget(button);
  }
  QFont bold = start_->font();
  bold.setBold(true);
  start_->setFont(bold);
  start_->setDefault(true);
  start_->setStyleSheet(QLatin1String(kStartStyle));
  go_on_->setToolTip(tr("Goes on with the stopped run where it was, with its settings"));
  connect(start_, &QPushButton::clicked, this, &RunBar::StartRequested);
  connect(go_on_, &QPushButton::clicked, this, &RunBar::GoOnRequested);
  connect(pause_, &QPushButton::clicked, this,
          [this] { worker_.state() == RunState::kPaused ? worker_.Continue() : worker_.Pause(); });
  connect(stop_, &QPushButton::clicked, &worker_, &TrainWorker::Stop);
  connect(&document_, &RunDocument::PlanChanged, this, &RunBar::Show);
  connect(&document_, &RunDocument::SettingsChanged, this, [this] { changed_ = worker_.active(); });
  connect(&worker_, &TrainWorker::StateChanged, this, &RunBar::Show);
  timer_.setInterval(kUpdate_ms);
  connect(&timer_, &QTimer::timeout, this, &RunBar::ShowProgress);
  Show();
}

QString RunBar::PlanText() const {
  const auto plan = document_.plan();
  if (plan == nullptr) {
    return {};
  }
  const QStringList notes = plan->Notes();
  QString text = plan->Text();
  if (!notes.isEmpty()) {
    text += QLatin1Char('\n') + notes.front();
  }
  return notes.size() > 1 ? text + tr(" (%1 more: rest the pointer here)").arg(notes.size() - 1) : text;
}

void RunBar::Show() {
  const RunState state = worker_.state();
  const bool idle = state == RunState::kIdle;
  const QString blocker = document_.StartBlocker();
  start_->setVisible(idle);
  start_->setEnabled(blocker.isEmpty() || document_.checking());
  start_->setToolTip(blocker.isEmpty() ? tr("Trains a new network with these settings") : blocker);
  pause_->setVisible(!idle);
  pause_->setEnabled(state == RunState::kRunning || state == RunState::kPaused);
  pause_->setText(state == RunState::kPaused ? tr("Res&ume") : tr("Pa&use"));
  stop_->setVisible(!idle);
  stop_->setEnabled(state != RunState::kStopping);
  go_on_->setVisible(idle && worker_.can_go_on());
  progress_->setVisible(!idle);
  if (idle) {
    timer_.stop();
    changed_ = false;
    text_->setText(blocker.isEmpty() ? PlanText() : blocker);
    const auto plan = document_.plan();
    text_->setToolTip(plan == nullptr ? QString() : plan->Notes().join(QLatin1Char('\n')));
    return;
  }
  timer_.start();
  ShowProgress();
}

void RunBar::ShowProgress() {
  QString text;
  const auto progress = worker_.progress();
  switch (worker_.state()) {
    case RunState::kPreparing: text = tr("Preparing the data …"); break;
    case RunState::kStopping: text = tr("Stopping after this step …"); break;
    case RunState::kPaused: text = tr("Paused"); break;
    default: text = tr("Training"); break;
  }
  double share = 0;
  if (progress) {
    const double epoch =
        static_cast<double>(progress->epoch - 1) +
        static_cast<double>(progress->step) / static_cast<double>(std::max<int64_t>(1, progress->steps));
    share = epoch / static_cast<double>(std::max<int64_t>(1, progress->epochs));
    text += tr(": epoch %1 of %2, %3, %4 left")
                .arg(FromText(WithThousands(progress->epoch)), FromText(WithThousands(progress->epochs)),
                     SpeedText(progress->samples_per_second), FromText(DurationText(progress->seconds_left)));
  }
  if (changed_) {
    text += tr("\nWhat was changed since the run began is for the next one.");
  }
  text_->setText(text);
  progress_->setValue(static_cast<int>(std::lround(share * kProgressSteps)));
}

}  // namespace lamina::gui
