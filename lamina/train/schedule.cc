// Learning-rate schedules.
#include "lamina/train/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {
constexpr std::array<std::string_view, 4> kNames{"constant", "step", "cosine", "plateau"};
}

std::string_view ScheduleKindName(ScheduleKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::vector<std::string> ScheduleKindNames() { return {kNames.begin(), kNames.end()}; }

ScheduleKind ParseScheduleKind(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return static_cast<ScheduleKind>(i);
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown schedule",
              {.value = std::string(name),
               .remedy = DidYouMean(name, ScheduleKindNames()) + "Known: constant, step, cosine, plateau."});
}

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
