// The third page.
#include "training_page.h"

#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "curves_view.h"
#include "form_scroll.h"
#include "lamina/backend/backends.h"
#include "lamina/base/text.h"
#include "level_switch.h"
#include "number_text.h"
#include "setting_field.h"

namespace lamina::gui {
namespace {

constexpr int kPull_ms = 100;
constexpr int kLogLines = 5000;
constexpr int64_t kLinesAPull = 3;  // a tiny network makes thousands of epochs a second: the newest are logged

QString Measured(const QString& name, double loss, double accuracy) {
  QString text = QStringLiteral("%1 %2").arg(name, QString::number(loss, 'g', 5));
  if (!std::isnan(accuracy)) {
    text += QStringLiteral(" (%1 %)").arg(100 * accuracy, 0, 'f', 2);
  }
  return text;
}

// Why each backend that cannot be used cannot; what "auto" means.
QString BackendText() {
  QStringList lines;
  for (const BackendRow& row : BackendTable()) {
    const Verdict verdict = row.available();
    lines << (verdict ? QStringLiteral("%1: %2").arg(FromText(row.name), FromText(row.summary))
                      : QObject::tr("%1: not available: %2").arg(FromText(row.name), FromText(verdict.reason)));
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

QString SpeedText(double samples_per_second) {
  return QObject::tr("%1 samples/s").arg(FromText(WithThousands(std::llround(samples_per_second))));
}

TrainingPage::TrainingPage(RunDocument& document, TrainWorker& worker, QWidget* parent)
    : QWidget(parent),
      document_(document),
      worker_(worker),
      curves_(new CurvesView),
      log_(new QPlainTextEdit),
      status_(new QLabel) {
  auto* layout = new QHBoxLayout(this);
  layout->addWidget(MakeSettings());
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(kLogLines);
  log_->setObjectName(QStringLiteral("log"));
  log_->setAccessibleName(tr("Log of the training"));
  log_->setPlaceholderText(tr("What happens during training is written here."));
  log_->setTabChangesFocus(true);
  status_->setObjectName(QStringLiteral("train.status"));
  status_->setWordWrap(true);
  status_->setText(tr("Not trained yet."));
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->addWidget(curves_);
  splitter->addWidget(log_);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  splitter->setChildrenCollapsible(false);
  auto* right = new QVBoxLayout;
  right->addWidget(status_);
  right->addWidget(splitter, 1);
  layout->addLayout(right, 1);
  timer_.setInterval(kPull_ms);
  connect(&timer_, &QTimer::timeout, this, &TrainingPage::Pull);
  connect(&worker_, &TrainWorker::FoldDone, this, &TrainingPage::Log);
  connect(&worker_, &TrainWorker::StateChanged, this, [this] {
    if (worker_.active()) {
      timer_.start();
    } else {
      timer_.stop();
      Pull();
    }
  });
}

QWidget* TrainingPage::MakeSettings() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 4, 0);
  const std::pair<QString, std::vector<std::string>> groups[] = {
      {tr("Learning"),
       {"learning-rate", "bias-rate", "embedding-rate", "momentum", "weight-decay", "optimizer", "loss", "quantiles",
        "label-smoothing", "dropout", "mixup", "normalization", "clip-norm", "batch", "epochs"}},
      {tr("When to stop, what to keep"),
       {"patience", "patience-waves", "min-improvement", "monitor", "keep", "quantize-aware", "calibrate",
        "intervals"}},
      {tr("Learning rate over time"),
       {"schedule", "schedule-factor", "schedule-epochs", "schedule-patience", "warmup"}},
      {tr("Machine"), {"backend", "threads", "dtype", "precision", "seed", "shuffle"}}};
  for (const auto& [title, names] : groups) {
    auto* group = new QGroupBox(title);
    auto* grid = new QGridLayout(group);
    grid->setVerticalSpacing(6);
    for (const std::string& name : names) {
      AddField(*grid, document_, name);
    }
    if (names.front() == "backend") {
      backend_ = new QLabel(BackendText());
      backend_->setWordWrap(true);
      backend_->setObjectName(QStringLiteral("backends"));
      backend_->setTextInteractionFlags(Qt::TextSelectableByMouse);
      QFont small = backend_->font();
      small.setPointSizeF(small.pointSizeF() * 0.9);
      backend_->setFont(small);
      backend_->setProperty(LevelSwitch::kForAll, true);
      grid->addWidget(backend_, grid->rowCount(), 0, 1, 2);
    }
    layout->addWidget(group);
  }
  layout->addWidget(MakeResetButton(document_, *this), 0, Qt::AlignLeft);
  layout->addStretch();
  layout->insertWidget(0, new LevelSwitch(document_, *box));
  return new FormScroll(box);
}

void TrainingPage::Clear() {
  curves_->Clear();
  log_->clear();
  status_->setText(tr("Preparing the data …"));
}

void TrainingPage::Log(const QString& line) { log_->appendPlainText(line); }

void TrainingPage::LogEpochs(const std::vector<EpochRecord>& epochs) {
  const auto count = std::ssize(epochs);
  const int64_t first = std::max<int64_t>(0, count - kLinesAPull);
  if (first > 0) {
    Log(QStringLiteral("… ") + CountText(first, tr("epoch"), tr("epochs")));
  }
  for (int64_t i = first; i < count; ++i) {
    const EpochRecord& record = epochs[static_cast<size_t>(i)];
    QString line = tr("epoch %1  ").arg(record.epoch) + Measured(tr("loss"), record.train_loss, record.train_accuracy);
    if (!std::isnan(record.validation_loss)) {
      line += QStringLiteral("  ") + Measured(tr("validation"), record.validation_loss, record.validation_accuracy);
    }
    Log(line + QStringLiteral("  ") + SpeedText(record.samples_per_second));
  }
}

void TrainingPage::Pull() {
  const std::vector<EpochRecord> epochs = worker_.TakeEpochs();
  LogEpochs(epochs);
  curves_->Add(epochs);
  const auto progress = worker_.progress();
  if (!progress) {
    if (!worker_.active()) {
      status_->setText(tr("Not trained."));
    }
    return;
  }
  const QString stage = worker_.stage();
  QString text = (stage.isEmpty() ? stage : stage + QStringLiteral(": ")) +
                 tr("Epoch %1 of %2, %3")
                     .arg(FromText(WithThousands(progress->epoch)), FromText(WithThousands(progress->epochs)),
                          SpeedText(progress->samples_per_second));
  if (worker_.active()) {
    text += tr(", %1 left").arg(FromText(DurationText(progress->seconds_left)));
  }
  if (worker_.state() == RunState::kPaused) {
    text += tr(" (paused)");
  }
  status_->setText(text);
}

}  // namespace lamina::gui
