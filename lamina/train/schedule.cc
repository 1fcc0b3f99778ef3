// Learning-rate schedules.
#include "lamina/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lamina/base/names.h"

namespace lamina {
namespace {
constexpr Named<ScheduleKind> kKinds[] = {{"constant", ScheduleKind::kConstant}, {"step", ScheduleKind::kStep},
                                          {"cosine", ScheduleKind::kCosine},     {"plateau", ScheduleKind::kPlateau},
                                          {"coslog4", ScheduleKind::kCosLog4},   {"flat_cos", ScheduleKind::kFlatCos},
                                          {"one_cycle", ScheduleKind::kOneCycle}};

// From `from` at t = 0 to `to` at t = 1.
double AlongCosine(double from, double to, double t) {
  return to + 0.5 * (from - to) * (1.0 + std::cos(std::numbers::pi * t));
}

// The waves of coslog4 that are behind at t, the share of all steps that is done; its whole part have ended.
double WavesDone(double t) { return std::log2(1.0 + 15.0 * t); }

bool HasRateOfEpoch(ScheduleKind kind) {
  return kind != ScheduleKind::kCosLog4 && kind != ScheduleKind::kFlatCos && kind != ScheduleKind::kOneCycle;
}

}  // namespace

std::string_view ScheduleKindName(ScheduleKind kind) { return NameOf(kind, kKinds); }

std::vector<std::string> ScheduleKindNames() { return NamesIn(kKinds); }

ScheduleKind ParseScheduleKind(std::string_view name) { return ParseName(name, kKinds, "unknown schedule"); }

double LearningRateAt(const Schedule& schedule, double learning_rate, int64_t epoch, int64_t epochs,
                      int64_t reductions) {
  switch (schedule.kind) {
    case ScheduleKind::kConstant: return learning_rate;
    case ScheduleKind::kStep: {
      const int64_t steps = epoch / schedule.step_epochs;
      return learning_rate * std::pow(schedule.factor, static_cast<double>(steps));
    }
    case ScheduleKind::kCosine: {
      const double low = learning_rate * schedule.factor;
      const double t = static_cast<double>(epoch) / static_cast<double>(std::max<int64_t>(1, epochs - 1));
      return low + 0.5 * (learning_rate - low) * (1.0 + std::cos(std::numbers::pi * std::min(1.0, t)));
    }
    case ScheduleKind::kPlateau: return learning_rate * std::pow(schedule.factor, static_cast<double>(reductions));
    default: return learning_rate;
  }
}

bool ChangesBySteps(const Schedule& schedule) { return schedule.warmup > 0 || !HasRateOfEpoch(schedule.kind); }

int64_t WavesEnded(const Schedule& schedule, int64_t epoch, int64_t epochs) {
  return schedule.kind == ScheduleKind::kCosLog4
             ? static_cast<int64_t>(WavesDone(static_cast<double>(epoch) / static_cast<double>(epochs)))
             : 0;
}

int64_t EpochsOfEndedWaves(const Schedule& schedule, int64_t epoch, int64_t epochs, int64_t waves) {
  const auto ended = [&](int64_t after) { return WavesEnded(schedule, after, epochs); };
  if (epoch < 1 || ended(epoch) == ended(epoch - 1) || ended(epoch) < waves) {
    return 0;
  }
  int64_t begin = 0;
  while (ended(begin) < ended(epoch) - waves) {
    ++begin;
  }
  return epoch - begin;
}

double StepRateAt(const Schedule& schedule, double learning_rate, double epoch_rate, double done) {
  constexpr double kCyclePeak = 0.3;
  constexpr double kCycleStart = 1.0 / 25;
  constexpr double kCycleEnd = kCycleStart * 1e-4;
  double rate = epoch_rate;
  switch (schedule.kind) {
    case ScheduleKind::kCosLog4:
      rate = 0.5 * learning_rate * (1.0 - std::cos(2.0 * std::numbers::pi * WavesDone(done)));
      break;
    case ScheduleKind::kFlatCos: rate = AlongCosine(learning_rate, 0, std::max(0.0, 2.0 * done - 1.0)); break;
    case ScheduleKind::kOneCycle:
      rate = done < kCyclePeak
                 ? AlongCosine(kCycleStart * learning_rate, learning_rate, done / kCyclePeak)
                 : AlongCosine(learning_rate, kCycleEnd * learning_rate, (done - kCyclePeak) / (1.0 - kCyclePeak));
      break;
    default: break;
  }
  return done < schedule.warmup ? rate * done / schedule.warmup : rate;
}

}  // namespace lamina
