// Rows that a model has learnt from say little about how it answers others.
#pragma once

#include <string>

#include "lamina/model/model.h"

namespace lamina {

/// A sentence where `data` is the file that the model was trained on, with what to expect of new rows: "the model was
/// trained on rows of houses.csv: on rows that are new to it expect the R² of its test rows, 0.91200". Else "".
std::string NoteOnTrainingRows(const Model& model, const std::string& data);

}  // namespace lamina
