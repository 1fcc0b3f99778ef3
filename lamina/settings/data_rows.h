// The rows of the settings of the data. Private to the settings.
#pragma once

#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

std::vector<Setting<TrainSettings>> DataRows();

}  // namespace lamina
