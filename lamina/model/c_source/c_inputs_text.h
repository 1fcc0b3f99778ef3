// Text columns and derived columns in C.
#pragma once

#include <string>

#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_writer.h"

namespace lamina {

/// Adds the statements of a column of text to `body`, and what they call to `out`.
void AddTextColumn(CWriter& out, const Preprocessor& preprocessor, const CColumns& columns, const FittedColumn& column,
                   std::string& body);

/// A derived number as an expression of the expressions that it is made of.
std::string DerivedText(CWriter& out, const Derivation& made, const std::string& x, const std::string& other);

}  // namespace lamina
