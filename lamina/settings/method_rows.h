// The rows of the settings of methods other than backpropagation. Private to the settings.
#pragma once

#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

std::vector<Setting<TrainSettings>> MethodRows();

}  // namespace lamina
