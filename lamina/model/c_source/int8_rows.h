// A model in 8-bit integers, measured on rows.
#pragma once

#include "lamina/data/files/table.h"
#include "lamina/model/model.h"

namespace lamina {

/// `model` with Model::int8, measured on at most 1000 `rows` (as ReadTableFor() gives them, with the derived columns;
/// null: on rows made up between the bounds of the training rows). Throws Error(kUnsupported) for an ensemble, nearest
/// neighbours, quantiles, and as MakeInt8Network().
Model WithInt8(Model model, const Table* rows);

}  // namespace lamina
