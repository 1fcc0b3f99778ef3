// The description of the service (OpenAPI 3.0), and rows as examples.
#pragma once

#include <string>

#include "lamina/serve/cell_grid.h"
#include "lamina/serve/model_set.h"

namespace lamina::serve {

std::string OpenApiText(const ModelSet& models);

/// A row from the middle of training, by the names of its columns. Its texts belong to the model.
CellGrid TypicalRow(const ServedModel& model);

}  // namespace lamina::serve
