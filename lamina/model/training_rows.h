// Rows that a model has learned from say little about how it answers others.
#pragma once

#include <string>

#include "lamina/model/model.h"

namespace lamina {

/// A sentence where `data` is the file that the model was trained on, "" elsewhere. It says what to expect of new rows,
/// by the test rows' result, such as an R² of 0.91200.
std::string NoteOnTrainingRows(const Model& model, const std::string& data);

}  // namespace lamina
