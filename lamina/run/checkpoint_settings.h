// What may be otherwise where a run goes on from a checkpoint, and what the model keeps of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "lamina/run/checkpoint.h"
#include "lamina/settings/recipe.h"

namespace lamina {

/// In a model's "training": how it went on with other settings than it began with, a list of
/// {"epoch", "step", "was": {NAME: VALUE}, "is": {NAME: VALUE}}; not there where nothing was changed.
inline constexpr const char* kResumedKey = "resumed";

/// Throws Error(kInvalidArgument) where `given` differs from the settings of `saved` in what a checkpoint fixes
/// (Setting::after_checkpoint): about the first one, naming all of them.
void RequireFixedSettings(const TrainSettings& given, const Checkpoint& saved);

/// Throws Error(kBadModel) where the network of `given` has more parameters than that of `saved`. A file's settings
/// must not claim more memory than the file has.
void RequireNoLargerNetwork(const ResolvedSettings& given, const Preprocessor& data, std::span<const Activation> custom,
                            const Checkpoint& saved);

/// Throws Error(kBadModel) where network, data or steps of the run are not those of `saved`. `fingerprint`: of the
/// data.
void RequireSameRun(const Checkpoint& saved, const Model& model, const TrainOptions& options, uint64_t fingerprint,
                    int64_t train_rows);

/// The list of `saved` with one more entry where `given` differs in what has an effect on the run; null where there is
/// none.
nlohmann::json ResumedWith(const TrainSettings& given, const Checkpoint& saved);

/// "--keep, --batch": what the last entry of such a list changed; "" where it is null.
std::string ChangedFlags(const nlohmann::json& resumed);

/// The settings that the run began with, from those it ended with and such a list. Throws for one that is none.
TrainSettings SettingsAtStart(const TrainSettings& settings, const nlohmann::json& resumed);

}  // namespace lamina
