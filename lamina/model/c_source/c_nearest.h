// Nearest neighbors in C: the mean of the targets of the nearest rows that a model keeps (model/evaluate.cc).
#pragma once

#include <string>

#include "lamina/model/c_source/c_writer.h"
#include "lamina/model/model.h"

namespace lamina {

/// Adds the rows and "static void FUNCTION(const float *x, float *y)".
void AddNearest(CWriter& out, const Model& model, const std::string& function);

}  // namespace lamina
