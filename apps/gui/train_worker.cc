// Training off the interface thread.
#include "train_worker.h"

#include <utility>

#include "lamina/base/text.h"
#include "prediction.h"

namespace lamina::gui {
namespace {

QString StartText(const TrainSession& session) {
  const Network& network = session.model().network;
  return QObject::tr("Network %1 with %2 parameters on %3 training rows; %4")
      .arg(FromText(network.ShapeText()), FromText(WithThousands(network.parameter_count())),
           FromText(WithThousands(session.train().size())), FromText(session.backend().Describe()));
}

}  // namespace

TrainWorker::TrainWorker(QObject* parent) : QObject(parent), worker_(new QObject) {
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  thread_.setObjectName(QStringLiteral("training"));
  thread_.start();
}

TrainWorker::~TrainWorker() {
  control_.Stop();
  thread_.quit();
  thread_.wait();
}

void TrainWorker::SetState(RunState state) {
  state_ = state;
  Q_EMIT StateChanged();
}

void TrainWorker::Start(const TrainSettings& settings, std::shared_ptr<const LoadedData> data) {
  Launch([this, settings, data = std::move(data)] {
    session_.reset();  // its memory first
    session_ = std::make_unique<TrainSession>(settings, data->raw);
  });
}

void TrainWorker::GoOn() {
  Launch([] {});
}

void TrainWorker::Launch(std::function<void()> prepare) {
  if (active()) {
    return;
  }
  control_.Reset();
  {
    const std::lock_guard lock(mutex_);
    epochs_.clear();
    progress_.reset();
  }
  can_go_on_ = false;
  SetState(RunState::kPreparing);
  QMetaObject::invokeMethod(worker_, [this, prepare = std::move(prepare)] {
    std::shared_ptr<const TrainOutcome> outcome;
    const auto problem = Attempt([&] {
      prepare();
      Post([this, start = RunStart{StartText(*session_), session_->first_epoch()}] {
        if (state_ == RunState::kPreparing) {
          SetState(RunState::kRunning);
        }
        Q_EMIT Started(start);
      });
      outcome = RunSession();
    });
    const bool can_go_on = !problem && session_->can_go_on();
    Post([this, outcome, problem, can_go_on] {
      can_go_on_ = can_go_on;
      SetState(RunState::kIdle);
      if (problem) {
        Q_EMIT Failed(*problem);
      } else {
        Q_EMIT Finished(outcome);
      }
    });
  });
}

std::shared_ptr<const TrainOutcome> TrainWorker::RunSession() {
  TrainCallbacks callbacks;
  callbacks.stop_requested = [this] { return control_.StopRequested(); };
  callbacks.progress = [this](const TrainProgress& progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  };
  callbacks.epoch_done = [this](const EpochRecord& record) {
    const std::lock_guard lock(mutex_);
    epochs_.push_back(record);
  };
  TrainResult result = session_->Run(callbacks);
  auto outcome = std::make_shared<TrainOutcome>();
  const Model& model = session_->model();
  outcome->model = std::make_shared<Model>(model);
  outcome->settings = session_->settings();
  outcome->stopped = result.history.stop_reason == "interrupted";
  outcome->history = std::move(result.history);
  outcome->train_seconds = result.train_seconds;
  outcome->evaluation = std::move(result.test);
  const std::pair<const Dataset*, QString> sets[] = {{&session_->test(), tr("test")},
                                                     {&session_->validation(), tr("validation")},
                                                     {&session_->train(), tr("training")}};
  for (const auto& [rows, name] : sets) {
    if (rows->size() > 0) {
      if (!outcome->evaluation) {
        outcome->evaluation = Evaluate(model, session_->backend(), *rows);
      }
      outcome->evaluated_on = name;
      break;
    }
  }
  return outcome;
}

void TrainWorker::Pause() {
  if (state_ == RunState::kRunning) {
    control_.Pause();
    SetState(RunState::kPaused);
  }
}

void TrainWorker::Continue() {
  if (state_ == RunState::kPaused) {
    control_.Continue();
    SetState(RunState::kRunning);
  }
}

void TrainWorker::Stop() {
  if (active() && state_ != RunState::kStopping) {
    control_.Stop();
    SetState(RunState::kStopping);
  }
}

std::vector<EpochRecord> TrainWorker::TakeEpochs() {
  const std::lock_guard lock(mutex_);
  return std::exchange(epochs_, {});
}

std::optional<TrainProgress> TrainWorker::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

}  // namespace lamina::gui
