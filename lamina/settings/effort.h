// --effort: one flag for how long the best answer may be looked for, for people who know none of the others.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lamina/base/names.h"
#include "lamina/settings/settings.h"

namespace lamina {

enum class Effort {
  kQuick,   // one network of recipe plain, in tenths of a second
  kNormal,  // what --method auto takes
  kBest     // a portfolio of models on folds (run/best_effort.h), until its end or a limit of time
};

inline constexpr Named<Effort> kEfforts[] = {
    {"quick", Effort::kQuick}, {"normal", Effort::kNormal}, {"best", Effort::kBest}};

/// Folds of --effort best, and the seconds that it has where --time-limit does not say otherwise.
inline constexpr int64_t kFoldsOfBest = 5;
inline constexpr double kLimitOfBest_seconds = 300;

/// Throws Error(kInvalidArgument) for an unknown name.
Effort EffortFrom(const TrainSettings& settings);

/// Seconds of "90", "90s", "10m" or "1.5h"; none for an empty text. Throws Error(kInvalidArgument).
std::optional<double> ParseTimeLimit_seconds(std::string_view text);

/// Throws Error(kInvalidArgument), by its name, for a setting that the effort decides otherwise, and for --time-limit
/// beside another effort than best.
void ValidateEffort(const TrainSettings& settings);

/// With what quick means by other settings; other efforts as they are.
TrainSettings WithQuick(const TrainSettings& settings);

/// Whether a run of the settings is several: the folds of --folds or the portfolio of --effort best.
bool RunsOnFolds(const TrainSettings& settings);

}  // namespace lamina
