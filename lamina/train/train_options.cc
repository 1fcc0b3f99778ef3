// Names and allowed values of the options.
#include "lamina/train/train_options.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/base/error.h"
#include "lamina/base/names.h"

namespace lamina {
namespace {

constexpr Named<Keep> kKeeps[] = {{"auto", Keep::kAuto}, {"best", Keep::kBest}, {"last", Keep::kLast}};

[[noreturn]] void ThrowSetting(const char* name, double value, const char* allowed) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} must be {}", name, allowed),
              {.value = fmt::format("{}", value)});
}

}  // namespace

std::string_view KeepName(Keep keep) { return NameOf(keep, kKeeps); }

std::vector<std::string> KeepNames() { return NamesIn(kKeeps); }

Keep ParseKeep(std::string_view name) { return ParseName(name, kKeeps, "unknown choice of weights to keep"); }

void TrainOptions::Validate() const {
  const auto require = [](bool ok, const char* name, double value, const char* allowed) {
    if (!ok) {
      ThrowSetting(name, value, allowed);
    }
  };
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  const auto unit = [](double x) { return std::isfinite(x) && x >= 0 && x < 1; };
  const auto not_negative = [](double x) { return std::isfinite(x) && x >= 0; };
  require(epochs >= 1, "epochs", static_cast<double>(epochs), "at least 1");
  require(batch >= 1, "batch", static_cast<double>(batch), "at least 1");
  require(positive(rule.learning_rate), "learning_rate", rule.learning_rate, "a positive number");
  require(unit(rule.momentum), "momentum", rule.momentum, "at least 0 and below 1");
  require(not_negative(rule.weight_decay), "weight_decay", rule.weight_decay, "0 or a positive number");
  require(unit(rule.beta1), "beta1", rule.beta1, "at least 0 and below 1");
  require(unit(rule.beta2), "beta2", rule.beta2, "at least 0 and below 1");
  require(positive(rule.epsilon), "epsilon", rule.epsilon, "a positive number");
  require(not_negative(clip_norm), "clip_norm", clip_norm, "0 or a positive number");
  require(unit(label_smoothing), "label_smoothing", label_smoothing, "at least 0 and below 1");
  require(positive(schedule.factor), "schedule_factor", schedule.factor, "a positive number");
  require(schedule.step_epochs >= 1, "schedule_epochs", static_cast<double>(schedule.step_epochs), "at least 1");
  require(schedule.patience >= 1, "schedule_patience", static_cast<double>(schedule.patience), "at least 1");
  require(patience >= 0, "patience", static_cast<double>(patience), "0 or a positive number");
  require(not_negative(min_improvement), "min_improvement", min_improvement, "0 or a positive number");
  require(checkpoint_epochs >= 0, "checkpoint_epochs", static_cast<double>(checkpoint_epochs),
          "0 or a positive number");
}

}  // namespace lamina
