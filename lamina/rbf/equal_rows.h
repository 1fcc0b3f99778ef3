// Which rows are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Equal rows of x (f64) have equal numbers, that of the first of them. Empty where all differ.
std::vector<int64_t> GroupsOfEqualRows(ConstMatrixView x);

/// How many rows have the number of another one.
int64_t CountEqualRows(const std::vector<int64_t>& groups);

/// Equal keys have equal numbers, from 0 in the order of the keys.
std::vector<int64_t> NumbersOfGroups(const std::vector<double>& keys);

}  // namespace lamina
