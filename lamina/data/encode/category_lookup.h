// Categories by name: columns of text or numbers seen as codes, and names back to fitted categories.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

/// A column as codes and names; a number column's distinct values become names, those of dates as DateText(). Views the
/// column, which must outlive it.
class CategoryView {
 public:
  explicit CategoryView(const Column& column, std::span<const int64_t> rows);
  CategoryView(const CategoryView&) = delete;
  CategoryView& operator=(const CategoryView&) = delete;

  /// Index in names(), -1 if missing. Only for the rows given to the constructor.
  int32_t Code(int64_t row) const { return codes_[static_cast<size_t>(row)]; }
  std::span<const std::string> names() const { return names_; }
  bool from_numbers() const { return !own_names_.empty(); }

 private:
  std::vector<int32_t> own_codes_;
  std::vector<std::string> own_names_;
  std::span<const int32_t> codes_;
  std::span<const std::string> names_;
};

/// The distinct names among `rows`, sorted by value if all are numbers, else by bytes: the same for any row
/// order.
std::vector<std::string> SortedNames(const CategoryView& view, std::span<const int64_t> rows);

/// Index in `known` for each name of `view`, -1 for unknown ones. Blanks at their ends do not count. Names made from
/// numbers also match categories of equal value (7 and "007"). Where all categories are "true" or "false", whatever
/// their letters, those words in other letters match, and 1 and 0.
std::vector<int32_t> MatchNames(const CategoryView& view, std::span<const std::string> known);

}  // namespace lamina
