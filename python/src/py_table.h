// Tables that Python fills.
#pragma once

#include <string>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina::python {

struct PyTable : Table {
  std::vector<std::string> texts;  // columns that stay text, whatever their cells look like
};

}  // namespace lamina::python
