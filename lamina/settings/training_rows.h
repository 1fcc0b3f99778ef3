// The rows of the settings of training. Private to the settings.
#pragma once

#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

std::vector<Setting<TrainSettings>> TrainingRows();

/// Whether the target may be one of classes.
inline bool MayBeClasses(const TrainSettings& settings) { return settings.task != "regression"; }

}  // namespace lamina
