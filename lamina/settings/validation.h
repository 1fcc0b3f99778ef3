// What must hold for settings before any data is read, and the files that they name.
#pragma once

#include <span>
#include <string>

#include "lamina/base/file.h"
#include "lamina/neuron/activation.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// Every file that training with these settings reads and writes, by its flag; those not given with an empty path.
FileUse FilesOf(const TrainSettings& settings);
/// Behind the name of a model: its checkpoint.
inline constexpr const char* kCheckpointEnding = ".checkpoint";
/// --checkpoint, or beside --model where none is given; "" for neither.
std::string CheckpointPathOf(const TrainSettings& settings);

/// Throws Error(kInvalidArgument) for settings that contradict each other or cannot be parsed, without reading any
/// data.
void ValidateSettings(const TrainSettings& settings, std::span<const Activation> custom = {});

}  // namespace lamina
