// Training off the interface thread. A launch prepares session or folds, runs them, measures the model, and posts the
// outcome. Pause and stop are flags of RunControl. Training is TrainSession's, showing is left to the pages.
#include "train_worker.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/run/kernel_text.h"
#include "lamina/settings/effort.h"

namespace lamina::gui {
namespace {

QString StartText(const TrainSession& session) {
  const Network& network = session.model().network;
  return QObject::tr("Network %1 with %2 parameters on %3 training rows; %4")
      .arg(FromText(network.ShapeText()), FromText(WithThousands(network.parameter_count())),
           FromText(WithThousands(session.train().size())), FromText(session.backend().Describe()));
}

}  // namespace

void TrainWorker::SetState(RunState state) {
  state_ = state;
  Q_EMIT StateChanged();
}

void TrainWorker::Start(const TrainSettings& settings, std::shared_ptr<const LoadedData> data) {
  Launch([this, settings, data = std::move(data)] {
    session_.reset();  // its memory first
    data_ = data;
    given_ = settings;
    went_on_ = false;
    folds_.clear();
    fold_count_ = 0;
    out_of_fold_.reset();
    if (RunsOnFolds(settings)) {
      RunFolds(settings);
    } else {
      session_ = std::make_unique<TrainSession>(settings, data_->raw);
    }
  });
}

// Every fold, then the session of the model that is kept: on all rows, as in the program.
void TrainWorker::RunFolds(const TrainSettings& settings) {
  CrossValidationCallbacks callbacks;
  callbacks.train = Callbacks();
  callbacks.train.epoch_done = nullptr;  // the curves are of the model that is kept
  callbacks.started = [&](int64_t fold, const TrainSession&) {
    const std::lock_guard lock(mutex_);
    stage_ = tr("Fold %1 of %2").arg(fold).arg(settings.folds);
    results_.Post([this] {
      if (state_ == RunState::kPreparing) {
        SetState(RunState::kRunning);
      }
    });
  };
  callbacks.done = [&](const FoldResult& fold) {
    QStringList values;
    for (const MetricValue& value : fold.metrics) {
      values << FromText(value.metric.Title() + " " +
                         (value.reason.empty() ? value.metric.ValueText(value.value) : "–"));
    }
    results_.Post([this, line = tr("fold %1 of %2: %3, %4 rows")
                                    .arg(fold.fold)
                                    .arg(settings.folds)
                                    .arg(values.join(QStringLiteral(", ")), FromText(WithThousands(fold.test_rows)))] {
      Q_EMIT FoldDone(line);
    });
  };
  callbacks.part_done = [&](const PortfolioPart& part, int64_t number, int64_t count, double) {
    TellPart(part, number, count);
  };
  CrossValidation result = CrossValidate(settings, data_->raw, callbacks);
  {
    const std::lock_guard lock(mutex_);
    stage_.clear();
    progress_.reset();
  }
  if (result.interrupted) {
    throw Error(ErrorCode::kInvalidArgument, "stopped before all folds were trained: nothing was kept",
                {.remedy = "Train again; the folds begin anew."});
  }
  folds_ = std::move(result.metrics);
  fold_count_ = std::ssize(result.folds);
  out_of_fold_ = std::move(result.evaluation);
  session_ = std::make_unique<TrainSession>(result.final_settings, data_->raw, result.found);
}

// A model of the portfolio, as its folds are: on any thread.
void TrainWorker::TellPart(const PortfolioPart& part, int64_t number, int64_t count) {
  {
    const std::lock_guard lock(mutex_);
    stage_ = tr("Model %1 of %2").arg(number).arg(count);
  }
  const QString what = part.left_out.empty() ? tr("loss %1, with those before %2").arg(part.loss).arg(part.mixed)
                                             : FromText(part.left_out);
  results_.Post([this, line = tr("%1 of %2, %3: %4").arg(number).arg(count).arg(FromText(part.name), what)] {
    if (state_ == RunState::kPreparing) {
      SetState(RunState::kRunning);
    }
    Q_EMIT FoldDone(line);
  });
}

void TrainWorker::GoOn() {
  Launch([this] { went_on_ = true; });
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
    stage_.clear();
  }
  can_go_on_ = false;
  SetState(RunState::kPreparing);
  thread_.Post([this, prepare = std::move(prepare)] {
    std::shared_ptr<const TrainOutcome> outcome;
    const auto problem = Attempt([&] {
      prepare();
      results_.Post([this, start = RunStart{StartText(*session_), session_->first_epoch()}] {
        if (state_ == RunState::kPreparing) {
          SetState(RunState::kRunning);
        }
        Q_EMIT Started(start);
      });
      outcome = RunSession();
    });
    const bool can_go_on = !problem && session_->can_go_on();
    results_.Post([this, outcome, problem, can_go_on] {
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

TrainCallbacks TrainWorker::Callbacks() {
  TrainCallbacks callbacks;
  callbacks.stop_requested = [this] { return control_.StopRequested(); };
  callbacks.abandon_requested = [this] { return control_.stopped(); };
  callbacks.progress = [this](const TrainProgress& progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  };
  callbacks.epoch_done = [this](const EpochRecord& record) {
    const std::lock_guard lock(mutex_);
    epochs_.push_back(record);
  };
  return callbacks;
}

std::shared_ptr<const TrainOutcome> TrainWorker::RunSession() {
  TrainResult result = session_->Run(Callbacks());
  auto outcome = std::make_shared<TrainOutcome>();
  const Model& model = session_->model();
  outcome->model = std::make_shared<Model>(model);
  outcome->settings = session_->settings();
  outcome->given = given_;
  outcome->went_on = went_on_;
  outcome->stopped = result.history.stop_reason == "interrupted";
  outcome->history = std::move(result.history);
  outcome->train_seconds = result.train_seconds;
  if (outcome->history.stop_reason != "folds") {  // each fold's model chose for itself
    outcome->found = FoundLines(*session_);
  }
  outcome->evaluation = std::move(result.test);
  outcome->folds = folds_;
  outcome->fold_count = fold_count_;
  outcome->out_of_fold = out_of_fold_;
  const RawData& raw = data_->raw;
  const std::tuple<const Dataset*, const Table*, QString> sets[] = {
      {&session_->test(), raw.main.test ? &*raw.main.test : &raw.main.train, tr("test")},
      {&session_->validation(), raw.validation ? &*raw.validation : &raw.main.train, tr("validation")},
      {&session_->train(), &raw.main.train, tr("training")}};
  for (const auto& [rows, table, name] : sets) {
    if (rows->size() > 0) {
      if (!outcome->evaluation) {
        outcome->evaluation = Evaluate(model, session_->backend(), *rows);
      }
      outcome->evaluated_on = name;
      outcome->learned_from = rows == &session_->train();
      outcome->importance = QuickImportance(model, session_->backend(), *table, rows->rows);
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

QString TrainWorker::stage() const {
  const std::lock_guard lock(mutex_);
  return stage_;
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
