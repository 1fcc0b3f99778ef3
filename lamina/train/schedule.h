// Learning-rate schedules, one value an epoch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// With e the epoch from 0 and E the number of epochs:
///  constant  eta;  step  eta * factor^(e / step_epochs);  cosine  from eta down to eta * factor over E epochs
///  plateau   eta * factor after each `patience` epochs without improvement of the watched loss
enum class ScheduleKind { kConstant, kStep, kCosine, kPlateau };

std::string_view ScheduleKindName(ScheduleKind kind);
std::vector<std::string> ScheduleKindNames();
ScheduleKind ParseScheduleKind(std::string_view name);

struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  double factor = 0.1;
  int64_t step_epochs = 10;
  int64_t patience = 5;
};

/// `reductions`: how often plateau has reduced so far.
double LearningRateAt(const Schedule& schedule, double learning_rate, int64_t epoch, int64_t epochs,
                      int64_t reductions);

}  // namespace lamina
