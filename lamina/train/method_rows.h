// The rows of the settings of methods other than backpropagation. Private to the settings.
#pragma once

#include <vector>

#include "lamina/train/settings.h"

namespace lamina {

std::vector<Setting<TrainSettings>> MethodRows();

}  // namespace lamina
