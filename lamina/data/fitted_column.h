// What the Preprocessor keeps of one column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lamina/data/table.h"

namespace lamina {

/// A number x becomes (x - offset) / scale, where `logarithm` is set of sign(x) ln(1 + |x|) instead of x. Text becomes
/// one input per category, or its category's index scaled likewise.
struct FittedColumn {
  std::string name;
  int64_t position = 0;  // in the table it was fitted on
  ColumnKind kind = ColumnKind::kNumber;
  double offset = 0;
  double scale = 1;
  bool logarithm = false;
  double fill = 0;  // for missing numbers under MissingPolicy::kMean
  bool one_hot = false;
  std::vector<std::string> categories;  // text only
  int32_t fill_category = 0;            // for missing text: the most frequent one
  int64_t first_input = 0;              // not stored: follows from the widths

  int64_t width() const { return one_hot ? static_cast<int64_t>(categories.size()) : 1; }
};

}  // namespace lamina
