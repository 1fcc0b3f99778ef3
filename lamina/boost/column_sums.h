// Sums of two columns, about which trees ask as about a column: such a question lies aslant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/boost/trees.h"

namespace lamina {

/// Sums and differences of pairs of columns, in standard deviations of the rows `x`. At most `pairs` pairs: those that
/// `trees` ask one below the other with the greatest gain. Columns of few different numbers are left out. The trees
/// have grown on these rows, without sums.
std::vector<ColumnSum> SumsOfPairs(const BoostedTrees& trees, const Matrix& x, int64_t pairs);

/// rows × sums, of the type of `x`.
Matrix SumsOf(const Matrix& x, std::span<const ColumnSum> sums);

/// By how much two numbers of each sum differ, at least, if it is not for rounding.
std::vector<double> SurelyApart(std::span<const ColumnSum> sums, DType dtype);

}  // namespace lamina
