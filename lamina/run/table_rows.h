// Some rows of a table, as a table of its own.
#pragma once

#include <cstdint>
#include <span>

#include "lamina/data/files/table.h"

namespace lamina {

/// Copies of the rows `rows`, in this order. Errors name their lines as before.
Table TableOfRows(const Table& table, std::span<const int64_t> rows);

}  // namespace lamina
