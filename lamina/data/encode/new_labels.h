// Values of a classification target that training did not have, counted for people to see.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

/// Adds to report.new_labels the values of `view` that `fitted` lacks. Each is in counts[i] rows (0: not there) and
/// counts as class index[i] of `classes` (-1: as none).
void AddNewLabels(const CategoryView& view, std::span<const int64_t> counts, std::span<const int32_t> index,
                  std::span<const std::string> classes, std::span<const std::string> fitted, EncodeReport& report);

}  // namespace lamina
