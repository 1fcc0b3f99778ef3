// KDD Cup 1999: its files, columns, attack categories and cost matrix, in one place.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/read_options.h"

namespace lamina {

/// A label of the data set and the category it counts to; "normal" is its own.
struct KddAttack {
  std::string_view name;
  std::string_view category;  // normal, probe, dos, u2r, r2l
  bool in_training;           // false: only in the file "corrected"
};

/// The 40 labels of both files: 23 of training, 17 more of the test.
std::span<const KddAttack> KddAttacks();

/// The categories in the order of the cost matrix.
std::span<const std::string_view> KddCategories();
/// What predicting one category (second index) for rows of another (first) costs (Elkan 2000, "Results of the KDD'99
/// classifier learning").
double KddCost(size_t truth, size_t predicted);

/// kddcup.data_10_percent (else kddcup.data) and corrected of a folder, .gz or not: columns by name, labels without
/// their full stop, target "label". Throws Error(kNotFound) naming what is missing.
ReadResult ReadKddCup99(const std::string& folder, const ReadOptions& options);
/// Those files, as far as they are there.
std::vector<std::string> KddCup99Files(const std::string& folder);

}  // namespace lamina
