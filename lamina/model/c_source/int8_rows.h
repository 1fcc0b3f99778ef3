// A model in 8-bit integers, measured on rows.
#pragma once

#include "lamina/data/files/table.h"
#include "lamina/model/model.h"

namespace lamina {

/// As many rows tell how large activations become.
inline constexpr int64_t kMostInt8Rows = 1000;

/// The network's inputs for rows made up between the bounds of the training rows. Throws Error(kUnsupported) for an
/// ensemble, nearest neighbors and quantiles.
Matrix MadeUpInputs(const Model& model);

/// `model` with Model::int8. Its scales follow from Model::int8_ranges. Without these, they are measured on at most
/// 1000 `rows`, as ReadTableFor() gives them, with the derived columns. null: on rows made up between the bounds of the
/// training rows. Throws Error(kUnsupported) as MadeUpInputs() and RoundToInt8().
Model WithInt8(Model model, const Table* rows);

}  // namespace lamina
