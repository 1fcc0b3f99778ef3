// Learning-rate schedules: one value an epoch, or one a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// With e the epoch from 0 and E the number of epochs:
///  constant  eta;  step  eta * factor^(e / step_epochs);  cosine  from eta down to eta * factor over E epochs
///  plateau   eta * factor after each `patience` epochs without improvement of the watched loss
/// and with t from 0 to 1 the share of all steps that are done, a rate for every step:
///  coslog4    eta (1 - cos(2 pi log2(1 + 15 t))) / 2: four waves, each twice as long as the one before (RealMLP)
///  flat_cos   eta until t = 1/2, then along a cosine to 0
///  one_cycle  from eta / 25 along a cosine up to eta at t = 0.3, and down to eta / 250,000 (Smith and Topin 2018)
enum class ScheduleKind { kConstant, kStep, kCosine, kPlateau, kCosLog4, kFlatCos, kOneCycle };

std::string_view ScheduleKindName(ScheduleKind kind);
std::vector<std::string> ScheduleKindNames();
ScheduleKind ParseScheduleKind(std::string_view name);

struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  double factor = 0.1;
  int64_t step_epochs = 10;
  int64_t patience = 5;
  double warmup = 0;  // the share of all steps over which the rate rises from 0, on a line
};

/// Whether the rate is another at every step: StepRateAt().
bool ChangesBySteps(const Schedule& schedule);

/// The rate of an epoch. `reductions`: how often plateau has reduced so far.
double LearningRateAt(const Schedule& schedule, double learning_rate, int64_t epoch, int64_t epochs,
                      int64_t reductions);
/// The waves of coslog4 that have ended after `epoch` of `epochs` epochs; 0 for other schedules.
int64_t WavesEnded(const Schedule& schedule, int64_t epoch, int64_t epochs);
/// Where a wave of coslog4 ends after `epoch` of `epochs` epochs: the epochs of the last `waves` waves. 0 where none
/// ends, where there were not so many yet, and for other schedules.
int64_t EpochsOfEndedWaves(const Schedule& schedule, int64_t epoch, int64_t epochs, int64_t waves);
/// The rate of a step: `epoch_rate`, that of its epoch, where the kind has one; with warm-up. `done`: the share of all
/// steps that lie before the middle of this one.
double StepRateAt(const Schedule& schedule, double learning_rate, double epoch_rate, double done);

}  // namespace lamina
