// Searches plans by measuring. PassRun verifies and times each of the backend's candidates; slow ones leave after a
// round, and the fastest must beat the estimate twice. Candidates are left to the backend, the file of plans to
// profile.cc.
#include "lamina/tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/base/timing.h"
#include "lamina/tune/pass_run.h"

namespace lamina {
namespace {

constexpr Named<TuneLevel> kLevels[] = {
    {"estimate", TuneLevel::kEstimate}, {"measure", TuneLevel::kMeasure}, {"exhaustive", TuneLevel::kExhaustive}};
constexpr int kRounds = 5;
constexpr size_t kMeasured = 12;  // at TuneLevel::kMeasure
constexpr double kLeastGain = 1.02;
// A candidate that took this many times as long as the fastest so far is not measured again. Within a round, the speed
// of a shared machine changes by less.
constexpr double kHopeless = 1.6;
constexpr int64_t kRotation_bytes = 8 << 20;
// Shares of the time limit for the first round of all candidates, and for all rounds; confirmation gets the rest.
constexpr double kFirstRound = 0.5;
constexpr double kAllRounds = 0.85;

bool Stopped(const TuneOptions& options) { return options.stop_requested && options.stop_requested(); }

class OnePlan final : public PlanSource {
 public:
  explicit OnePlan(Plan plan) : plan_(std::move(plan)) {}
  Plan PlanFor(const Problem&) const override { return plan_; }

 private:
  Plan plan_;
};

struct Contender {
  Plan plan;
  std::unique_ptr<Backend> backend;
  double seconds = 0;  // the best round
};

Contender MakeContender(const Plan& plan, const TuneOptions& options) {
  return {plan, MakeBackend(options.backend, {.threads = options.threads, .plans = std::make_shared<OnePlan>(plan)}),
          1e30};
}

int CopiesFor(const Problem& problem) {
  const int64_t bytes = DTypeSize_bytes(problem.dtype) *
                        std::max<int64_t>(1, problem.batch * (problem.layer.inputs + 2 * problem.layer.outputs));
  return static_cast<int>(std::clamp<int64_t>(kRotation_bytes / bytes, 1, 16));
}

// One round of one contender: calls for `seconds`, at least one.
void Measure(PassRun& run, Contender& contender, double seconds) {
  run.Prepare(*contender.backend);
  run.Call();  // caches of this plan, not of the last
  contender.backend->Synchronize();
  contender.seconds = std::min(contender.seconds, run.SecondsPerCall(seconds));
}

// Whether `better` beats `than` by the least gain when both are measured afresh, in turns.
bool Confirm(PassRun& run, Contender& better, Contender& than, double seconds) {
  better.seconds = than.seconds = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    Measure(run, than, seconds / kRounds);
    Measure(run, better, seconds / kRounds);
  }
  return than.seconds > kLeastGain * better.seconds;
}

}  // namespace

TuneLevel ParseTuneLevel(std::string_view name) { return ParseName(name, kLevels, "unknown level of tuning"); }

namespace {

Contender& FastestOf(std::vector<Contender>& contenders) {
  return *std::min_element(contenders.begin(), contenders.end(),
                           [](const Contender& a, const Contender& b) { return a.seconds < b.seconds; });
}

// Measures all again, and leaves out those without hope, but not the estimate. False: somebody asked to stop.
bool MeasureAgain(PassRun& run, const Stopwatch& watch, const TuneOptions& options,
                  std::vector<Contender>& contenders) {
  for (int round = 1; round < kRounds; ++round) {
    const double limit = kHopeless * FastestOf(contenders).seconds;
    contenders.erase(std::remove_if(contenders.begin() + 1, contenders.end(),
                                    [&](const Contender& contender) { return contender.seconds > limit; }),
                     contenders.end());
    for (Contender& contender : contenders) {
      if (Stopped(options)) {
        return false;
      }
      if (watch.Elapsed_seconds() > kAllRounds * options.limit_seconds) {
        break;
      }
      Measure(run, contender, options.seconds / kRounds);
    }
  }
  return true;
}

}  // namespace

TuneResult TuneProblem(const Problem& problem, const TuneOptions& options) {
  TuneResult result;
  result.problem = problem;
  std::vector<Contender> contenders;
  contenders.push_back(MakeContender(Plan(), options));
  const Backend& backend = *contenders[0].backend;
  if (const Verdict verdict = backend.Supports(problem); !verdict) {
    throw Error(ErrorCode::kUnsupported, verdict.reason, {.value = problem.Text()});
  }
  std::vector<Plan> plans = options.level == TuneLevel::kEstimate ? std::vector<Plan>() : backend.Candidates(problem);
  if (options.level == TuneLevel::kMeasure && plans.size() > kMeasured) {
    plans.resize(kMeasured);
  }
  if (plans.empty()) {
    return result;
  }
  const Stopwatch watch;
  PassRun run(problem, backend, CopiesFor(problem));
  Measure(run, contenders[0], options.seconds / kRounds);
  for (const Plan& plan : plans) {
    if (Stopped(options)) {
      return result;
    }
    if (watch.Elapsed_seconds() > kFirstRound * options.limit_seconds) {
      ++result.left_out;
      continue;
    }
    Contender contender = MakeContender(plan, options);
    run.Prepare(*contender.backend);
    if (run.Verify().verified) {
      Measure(run, contender, options.seconds / kRounds);
      contenders.push_back(std::move(contender));
    } else {
      result.wrong.push_back(plan);
    }
  }
  result.measured = static_cast<int>(contenders.size()) - 1;
  if (!MeasureAgain(run, watch, options, contenders)) {
    return result;
  }
  Contender& estimate = contenders[0];
  Contender& best = FastestOf(contenders);
  result.estimate_seconds = result.best_seconds = estimate.seconds;
  if (estimate.seconds > kLeastGain * best.seconds && Confirm(run, best, estimate, options.seconds)) {
    result.plan = best.plan;
    result.estimate_seconds = estimate.seconds;
    result.best_seconds = best.seconds;
  }
  return result;
}

double TuneAsymmetry(const Problem& problem, const TuneOptions& options) {
  struct Shape {
    double asymmetry;
    std::unique_ptr<PassRun> run;
    Contender contender;
  };
  std::vector<Shape> shapes;
  for (const double asymmetry : {1.0, 0.25, 0.5, 2.0, 4.0}) {
    Problem part = problem;
    part.batch = static_cast<int64_t>(static_cast<double>(problem.batch) * asymmetry);
    part.layer.outputs = static_cast<int64_t>(static_cast<double>(problem.layer.outputs) / asymmetry);
    Contender contender = MakeContender(Plan(), options);
    shapes.push_back({asymmetry, std::make_unique<PassRun>(part, *contender.backend), std::move(contender)});
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Shape& shape : shapes) {
      if (Stopped(options)) {
        return 1.0;
      }
      Measure(*shape.run, shape.contender, options.seconds / kRounds);
    }
  }
  const auto best = std::min_element(shapes.begin(), shapes.end(), [](const Shape& a, const Shape& b) {
    return a.contender.seconds < b.contender.seconds;
  });
  return shapes[0].contender.seconds > kLeastGain * best->contender.seconds ? best->asymmetry : 1.0;
}

std::vector<Problem> UsualProblems() {
  std::vector<Problem> problems;
  for (const char* synapse : {"dot", "l1"}) {
    for (const char* shape : {"1024x784", "10x1024", "256x256"}) {
      for (const int batch : {1, 16, 128, 1024}) {
        for (const char* pass : {"forward", "input_gradient", "weight_gradient"}) {
          if (batch > 1 || std::string_view(pass) == "forward") {
            problems.push_back(Problem::Parse(fmt::format("{}-identity:f32:{}:{}x{}", synapse, pass, batch, shape)));
          }
        }
      }
    }
    problems.push_back(Problem::Parse(fmt::format("{}-identity:f32:forward:4096x4096x784", synapse)));
  }
  return problems;
}

}  // namespace lamina
