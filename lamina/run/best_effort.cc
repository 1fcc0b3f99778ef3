// The portfolio: jobs (a model on a fold) run side by side until the time is over. When all folds of a model are done,
// their answers are put together, in the order of the portfolio. Then models are chosen with shares, and those that ask
// for it are trained on all rows. A job is a TrainSession. Keeping jobs in a folder is left to portfolio_store.cc, the
// choice to left_out_answers.cc.
#include "lamina/run/best_effort.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/run/left_out_answers.h"
#include "lamina/run/portfolio_cost.h"
#include "lamina/run/portfolio_mix.h"
#include "lamina/run/portfolio_store.h"
#include "lamina/run/twins.h"
#include "lamina/settings/meanings.h"

namespace lamina {
namespace {

constexpr double kShareOfFirst = 0.9;  // of the time, which the first model's folds may take
constexpr double kMostOfShare = 1.5;   // what takes longer than so many of its shares of the time is given up
constexpr std::string_view kNoTime = "no time was left for it";
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr auto kLookAtOthers = std::chrono::milliseconds(100);

struct PortfolioModel {
  const PortfolioEntry* entry = nullptr;
  std::vector<TrainedFold> folds;
  int64_t left = 0;  // of its jobs
  PortfolioCost cost;
  double end_seconds = INFINITY;  // by its share of the time
  PortfolioPart part;
};

class PortfolioRun {
 public:
  PortfolioRun(std::span<const PortfolioEntry> entries, const PortfolioData& data, double limit_seconds,
               const PortfolioCallbacks& callbacks)
      : entries_(entries),
        settings_(data.settings),
        raw_(data.raw),
        encoding_(data.encoding),
        custom_(data.custom),
        limit_seconds_(limit_seconds),
        callbacks_(callbacks),
        at_once_(settings_.threads > 0 ? settings_.threads : std::max(1, QueryHardware().logical_cores)) {
    const int64_t all = raw_.main.train.rows;
    const int64_t rows = settings_.samples > 0 ? std::min(settings_.samples, all) : all;
    result_.repeats = RepeatsFor(settings_, rows);
    places_ = result_.repeats * settings_.folds;
    const TableSize size{rows, encoding_.inputs().count(), encoding_.targets().count()};
    for (const PortfolioEntry& entry : entries) {
      PortfolioModel& model = models_.emplace_back();
      model.entry = &entry;
      model.part.name = entry.name;
      model.part.settings = entry.settings;
      model.left = places_;
      model.folds.resize(static_cast<size_t>(places_));
      const PortfolioTurns turns{settings_.folds, places_, at_once_, limit_seconds_};
      model.part.left_out = WhyNotFor(size, entry, turns);
      model.cost = CostOf(size, entry, turns);
    }
  }

  PortfolioResult Run() {
    jobs_.emplace(std::ssize(entries_), places_,
                  settings_.state.empty() ? nlohmann::json() : RunOf(settings_, entries_, encoding_, raw_.main.train),
                  settings_.state);
    std::vector<std::thread> others;
    for (int64_t i = 1; i < at_once_; ++i) {
      ++running_;
      others.emplace_back([this] {
        Work(/*main=*/false);
        --running_;
      });
    }
    Work(/*main=*/true);
    while (running_ > 0) {
      AskUser();
      std::this_thread::sleep_for(kLook);
    }
    for (std::thread& thread : others) {
      thread.join();
    }
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    FinishRest();
    if (finished_.empty() || finished_.front() != 0) {
      result_.interrupted = true;
      return std::move(result_);
    }
    result_.stopped = stopped_;
    TakeShares(rows_.Choose(chosen_).counts);
    if (classes()) {
      BecomeSurer();
    }
    std::vector<Matrix> answers;
    answers.push_back(rows_.AnswersOf(Mix(places_)));
    std::optional<Twins> twins = TwinsOf(answers.front());
    Join(twins ? &twins->network : nullptr);
    if (twins) {
      result_.twins = twins->Text();
      answers.push_back(std::move(twins->told));
    }
    const Matrix all = SumOfShares(answers, std::vector(answers.size(), 1.0));
    for (const Dataset& test : result_.tests) {
      result_.answers.push_back(rows_.AnswersTo(test, all, result_.model.network.dtype()));
    }
    for (PortfolioModel& model : models_) {
      result_.parts.push_back(std::move(model.part));
    }
    return std::move(result_);
  }

 private:
  bool classes() const { return encoding_.targets().task() == Task::kClassification; }
  // When the folds must end: those that have may be trained once more with all rows.
  double End_seconds() const { return limit_seconds_ - refit_seconds_; }
  bool IsOver() const { return watch_.Elapsed_seconds() >= End_seconds(); }
  bool IsOver(const PortfolioModel& model) const { return IsOver() || watch_.Elapsed_seconds() >= model.end_seconds; }

  bool AskUser(bool main = true) {
    if (main && callbacks_.stop_requested && !stopped_ && callbacks_.stop_requested()) {
      stopped_ = true;
    }
    return stopped_;
  }

  // A fold of the first model has its part of the time: what it has learnt by then is kept.
  double EndOf(const PortfolioJob& job) const {
    const int64_t turns = (places_ + at_once_ - 1) / at_once_;
    const int64_t turn = job.place / at_once_ + 1;
    const double share = kShareOfFirst * static_cast<double>(turn) / static_cast<double>(turns);
    return job.entry > 0 ? End_seconds() : share * limit_seconds_;
  }

  std::optional<PortfolioJob> NextJob(bool& waits) {
    const std::lock_guard lock(mutex_);
    const auto ends = [&](size_t entry) { return stopped_ || failure_ != nullptr || (entry > 0 && IsOver()); };
    return jobs_->Next(
        ends, [&](size_t entry) { return IsPassedOver(models_[entry]); }, waits);
  }

  // Under the lock, of the model that would be the next. Machines that would end too late make room.
  bool IsPassedOver(PortfolioModel& model) {
    if (model.cost.folds_seconds > 0 && std::isinf(model.end_seconds) && model.part.left_out.empty()) {
      const double now = watch_.Elapsed_seconds();
      model.end_seconds = now + kMostOfShare * model.entry->most_time * limit_seconds_;
      if (now + model.cost.folds_seconds + model.cost.refit_seconds > End_seconds()) {
        model.part.left_out = kNoTime;
      }
    }
    return !model.part.left_out.empty();
  }

  void Work(bool main) {
    try {
      bool waits = true;
      while (waits) {
        std::optional<PortfolioJob> job = NextJob(waits);
        if (job) {
          waits = true;
          RunJob(*job, main);
        } else if (waits) {
          AskUser(main);
          std::this_thread::sleep_for(kLookAtOthers);
        }
        const std::lock_guard lock(mutex_);
        while (finishing_ < models_.size() && IsEnded(models_[finishing_])) {
          Finish(finishing_++);
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = failure_ == nullptr ? std::current_exception() : failure_;
    }
  }

  void RunJob(PortfolioJob& job, bool main) {
    const Stopwatch watch;
    TrainCallbacks callbacks;
    callbacks.abandon_requested = [&] { return AskUser(main) || (job.entry > 0 && IsOver(models_[job.entry])); };
    callbacks.stop_requested = [&] { return callbacks.abandon_requested() || watch_.Elapsed_seconds() >= EndOf(job); };
    try {
      std::optional<TrainSession> session;
      StoredJob made = job.stored ? std::move(*job.stored) : StoredJob();
      if (!job.stored || job.entry == 0) {
        session.emplace(AtPlace(settings_, *models_[job.entry].entry, job.place), raw_,
                        FoundByFolds{.encoding = encoding_}, custom_);
      }
      if (!job.stored) {
        const bool whole = session->Run(callbacks).history.stop_reason != "interrupted";
        if (!whole && (job.entry > 0 || stopped_)) {
          const std::lock_guard lock(mutex_);
          if (!stopped_ && !IsOver()) {
            models_[job.entry].part.left_out = "it took longer than its share of the time";
          }
          return;
        }
        made.fold = FoldOf(*session);
        made.seconds = watch.Elapsed_seconds();
        jobs_->Keep(job, made);
      }
      const std::lock_guard lock(mutex_);
      if (job.entry == 0 && job.place < settings_.folds) {
        KeepTest(job.place, *session);
      }
      Take(job, std::move(made));
    } catch (const Error& error) {
      const bool of_model = error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kUnsupported ||
                            error.code() == ErrorCode::kDiverged;
      if (!of_model || job.entry == 0) {
        throw;
      }
      jobs_->Keep(job, {{}, 0, error.message()});
      const std::lock_guard lock(mutex_);
      models_[job.entry].part.left_out = error.message();
    }
  }

  // Under the lock.
  void Take(const PortfolioJob& job, StoredJob made) {
    PortfolioModel& model = models_[job.entry];
    if (!made.left_out.empty()) {
      model.part.left_out = made.left_out;
      return;
    }
    for (const int64_t row : made.fold.rows) {
      if (row < 0 || row >= raw_.main.train.rows) {
        throw Error(ErrorCode::kBadModel, "a model of the folder is of other rows", {.file = settings_.state});
      }
    }
    model.part.seconds += made.seconds;
    model.folds[static_cast<size_t>(job.place)] = std::move(made.fold);
    --model.left;
  }

  // Rows and truth of the fold; the model's encoding and loss.
  void KeepTest(int64_t place, const TrainSession& session) {
    result_.tests.resize(static_cast<size_t>(settings_.folds));
    result_.tests[static_cast<size_t>(place)] = TruthOf(session.test());
    if (place == 0) {
      result_.model = session.model();
    }
    twins_.Keep(static_cast<size_t>(place), session.test());
  }

  bool IsEnded(const PortfolioModel& model) const { return model.left == 0 || !model.part.left_out.empty(); }

  void Finish(size_t index) {
    PortfolioModel& model = models_[index];
    if (index == 0) {
      rows_ = LeftOutRows(result_.tests, raw_.main.train.rows, classes());
    }
    if (model.part.left_out.empty()) {
      LeftOutModel together = rows_.Together(model.folds);
      if (together.answers.rows() == 0) {
        model.part.left_out = "an answer is not a finite number";
      } else {
        model.part.temperature = classes() ? together.temperature : kNaN;
        refit_seconds_ =
            refit_seconds_ + RefitSeconds(*model.entry, model.cost, model.part.seconds / static_cast<double>(at_once_));
        model.part.loss = together.loss;
        finished_.push_back(index);
        chosen_.push_back(std::move(together.chosen));
        model.part.mixed = rows_.Choose(chosen_).loss;
      }
    }
    if (callbacks_.part_done) {
      callbacks_.part_done(model.part, static_cast<int64_t>(index) + 1, std::ssize(models_),
                           std::max(0.0, End_seconds() - watch_.Elapsed_seconds()));
    }
  }

  // Models behind one that the end of the time cut off.
  void FinishRest() {
    for (; finishing_ < models_.size(); ++finishing_) {
      PortfolioModel& model = models_[finishing_];
      if (!IsEnded(model)) {
        model.part.left_out = stopped_ ? "stopped before its end" : kNoTime;
      }
      if (models_.front().left == 0) {
        Finish(finishing_);
      }
    }
  }

  // One network of all rows, or none where that was stopped.
  std::optional<TrainedFold> OfAllRows(const PortfolioModel& model) {
    TrainCallbacks callbacks;
    callbacks.stop_requested = callbacks.abandon_requested = [this] { return AskUser(); };
    TrainSession session(OnAllRows(settings_, *model.entry), raw_, {.encoding = encoding_}, custom_);
    const bool whole = session.Run(callbacks).history.stop_reason != "interrupted";
    return whole && !session.model().gates ? std::optional(FoldOf(session)) : std::nullopt;
  }

  void TakeShares(const std::vector<int64_t>& counts) {
    const auto rounds = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    for (size_t k = 0; k < counts.size(); ++k) {
      models_[finished_[k]].part.share = static_cast<double>(counts[k]) / rounds;
      if (counts[k] > 0) {
        mix_.push_back(k);
      }
    }
    std::ranges::stable_sort(mix_, [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  }

  // By the first of so many places, whole cuts into folds.
  std::vector<MixedModel> Mix(int64_t places) const {
    std::vector<MixedModel> mix;
    for (const size_t k : mix_) {
      const PortfolioModel& model = models_[finished_[k]];
      mix.push_back({std::span(model.folds).first(static_cast<size_t>(places)), classes() ? model.part.temperature : 1,
                     model.part.share});
    }
    return mix;
  }

  // Where the answers of the mix are least wrong, as those of each alone were before.
  void BecomeSurer() {
    const double sureness = rows_.SurenessOf(Mix(places_));
    for (const size_t k : mix_) {
      models_[finished_[k]].part.temperature /= sureness;
    }
  }

  // Rows with the same inputs are as good as others only where nothing else tells rows apart.
  std::optional<Twins> TwinsOf(const Matrix& answers) const {
    const bool alike = settings_.group.empty() && settings_.split_by.empty() && WeightOptionsFrom(settings_).empty();
    return classes() || !alike || result_.model.loss != Loss::kMse
               ? std::nullopt
               : twins_.Find({rows_.RestOf(answers), rows_.RestOf(rows_.AnswersOf(Mix(settings_.folds)))});
  }

  // The networks of those that were chosen.
  void Join(const Network* added) {
    PortfolioMix mix;
    for (const size_t k : mix_) {
      PortfolioModel& model = models_[finished_[k]];
      const auto temperature = classes() ? std::optional(model.part.temperature) : std::nullopt;
      const std::optional<TrainedFold> one = model.entry->refit ? OfAllRows(model) : std::nullopt;
      const std::span<const TrainedFold> folds = one ? std::span(&*one, 1) : std::span<const TrainedFold>(model.folds);
      for (const TrainedFold& fold : folds) {
        mix.Add(fold, temperature, model.part.share / static_cast<double>(folds.size()));
      }
    }
    auto [networks, shares] = mix.Finish(added);
    result_.networks = std::move(networks);
    result_.shares = std::move(shares);
  }

  const std::span<const PortfolioEntry> entries_;
  const TrainSettings& settings_;
  const RawData& raw_;
  const Preprocessor& encoding_;
  const std::vector<Activation>& custom_;
  const double limit_seconds_;
  const PortfolioCallbacks& callbacks_;
  const int64_t at_once_;
  const Stopwatch watch_;
  int64_t places_ = 0;
  std::vector<PortfolioModel> models_;
  LeftOutRows rows_;
  TwinSearch twins_;
  std::vector<size_t> finished_;  // models with answers to all rows, and what selection looks at
  std::vector<Matrix> chosen_;
  std::vector<size_t> mix_;  // of them, those that have a share, the largest first
  PortfolioResult result_;

  std::mutex mutex_;
  std::atomic<bool> stopped_{false};
  std::atomic<double> refit_seconds_{0};  // of the models that have ended
  std::atomic<int> running_{0};
  std::exception_ptr failure_;
  std::optional<PortfolioJobs> jobs_;
  size_t finishing_ = 0;
};

}  // namespace

PortfolioResult TrainPortfolio(std::span<const PortfolioEntry> entries, const PortfolioData& data, double limit_seconds,
                               const PortfolioCallbacks& callbacks) {
  return PortfolioRun(entries, data, limit_seconds, callbacks).Run();
}

}  // namespace lamina
