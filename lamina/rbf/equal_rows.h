// Which rows are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Equal rows of x (f64) have equal numbers. Empty where all differ.
std::vector<int64_t> GroupsOfEqualRows(ConstMatrixView x);

/// Equal keys have equal numbers, from 0 in the order of the keys.
std::vector<int64_t> NumbersOfGroups(const std::vector<double>& keys);

}  // namespace lamina
