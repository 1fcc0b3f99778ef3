// Some of the rows of a data set, or more.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lamina/data/encode/dataset.h"

namespace lamina {

/// The rows `which`, copied.
Matrix ChosenRows(ConstMatrixView rows, const std::vector<int64_t>& which);
Dataset ChosenRows(const Dataset& data, const std::vector<int64_t>& which);

/// `count` places among `rows` of them, evenly spread, ascending.
std::vector<int64_t> EvenPlaces(int64_t rows, int64_t count);
/// At most `most` rows, evenly spread.
Dataset EvenRows(const Dataset& data, int64_t most);

/// The rows of `a` and those of `b` behind them. Features and targets alone: for rows without weights, groups or times.
Dataset RowsOfBoth(const Dataset& a, const Dataset& b);

/// Every n-th row, and the others.
std::pair<Dataset, Dataset> WithoutEvery(int64_t n, const Dataset& data);

}  // namespace lamina
