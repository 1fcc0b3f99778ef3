// What a model's C source offers, as a header.
#pragma once

#include <string>

#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_writer.h"
#include "lamina/model/model.h"

namespace lamina {

struct CHeaderParts {
  std::string about;      // lines of the comment at the top
  std::string functions;  // declarations with comments; "@" is the name
};

/// The whole header: sizes, places of columns, names, functions.
std::string HeaderOf(const Model& model, const CColumns& columns, const std::string& name, const CHeaderParts& parts);

/// "Flash ...; RAM ...; a row ...", lines of a comment.
std::string SizesText(const CWriter& out);

/// The day since 1970-01-01 of a date, where the model has such columns: its declaration, and the function.
std::string DaysDeclaration(const CColumns& columns);
void AddDays(CWriter& out, const CColumns& columns);

}  // namespace lamina
