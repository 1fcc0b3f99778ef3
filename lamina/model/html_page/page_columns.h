// The columns of a model as its page has them: what a field may hold, and how it becomes inputs of the network.
#pragma once

#include <nlohmann/json.hpp>

#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/model.h"

namespace lamina {

/// "columns" (what a row is made of), "derived" (between them and the inputs), "policies" and "missing".
void AddPageColumns(const Model& model, const CColumns& columns, nlohmann::json& page);

}  // namespace lamina
