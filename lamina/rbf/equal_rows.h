// Which rows are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Equal rows of x (f64) have equal numbers. Empty where all differ.
std::vector<int64_t> GroupsOfEqualRows(ConstMatrixView x);

}  // namespace lamina
