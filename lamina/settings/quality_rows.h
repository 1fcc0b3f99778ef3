// The rows of the settings about how good a model is. Private to the settings.
#pragma once

#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

std::vector<Setting<TrainSettings>> QualityRows();

}  // namespace lamina
