// Learning-rate schedules.
#include "lamina/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lamina/base/names.h"

namespace lamina {
namespace {
constexpr Named<ScheduleKind> kKinds[] = {{"constant", ScheduleKind::kConstant},
                                          {"step", ScheduleKind::kStep},
                                          {"cosine", ScheduleKind::kCosine},
                                          {"plateau", ScheduleKind::kPlateau}};
}

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
  }
  return learning_rate;
}

}  // namespace lamina
