// Tables that Python fills.
#pragma once

#include <string>
#include <vector>

#include "lamina/data/files/table.h"
#include "lamina/run/run_plan.h"

namespace lamina::python {

struct PyTable : Table {
  std::vector<std::string> texts;  // columns that stay text, whatever their cells look like
};

/// The tables as files with the same cells would be read; null: none.
RawData RawDataOf(const TrainSettings& settings, const PyTable& table, const PyTable* test, const PyTable* validation);

}  // namespace lamina::python
