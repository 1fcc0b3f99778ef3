// Matching categories by name.
#include "lamina/data/encode/category_lookup.h"

#include <algorithm>
#include <cmath>

#include "lamina/base/text.h"

namespace lamina {

CategoryView::CategoryView(const Column& column, std::span<const int64_t> rows) {
  if (column.kind == ColumnKind::kText) {
    codes_ = column.codes;
    names_ = column.categories;
    return;
  }
  const int64_t last = rows.empty() ? -1 : *std::max_element(rows.begin(), rows.end());
  own_codes_.assign(static_cast<size_t>(last + 1), -1);
  std::unordered_map<double, int32_t> code_of;
  for (const int64_t row : rows) {
    if (column.IsMissing(row)) {
      continue;
    }
    const double value = column.Number(row);
    const auto [entry, added] = code_of.try_emplace(value, static_cast<int32_t>(own_names_.size()));
    if (added) {
      own_names_.push_back(NumberName(value));
    }
    own_codes_[static_cast<size_t>(row)] = entry->second;
  }
  codes_ = own_codes_;
  names_ = own_names_;
}

std::vector<std::string> SortedNames(const CategoryView& view, std::span<const int64_t> rows) {
  std::vector<bool> seen(view.names().size());
  for (const int64_t row : rows) {
    if (view.Code(row) >= 0) {
      seen[static_cast<size_t>(view.Code(row))] = true;
    }
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) {
      names.push_back(view.names()[i]);
    }
  }
  std::sort(names.begin(), names.end());
  const bool numeric =
      std::all_of(names.begin(), names.end(), [](const std::string& name) { return !std::isnan(ParseNumber(name)); });
  if (numeric) {
    std::stable_sort(names.begin(), names.end(),
                     [](const std::string& a, const std::string& b) { return ParseNumber(a) < ParseNumber(b); });
  }
  return names;
}

std::vector<int32_t> MatchNames(const CategoryView& view, std::span<const std::string> known) {
  std::unordered_map<std::string_view, int32_t> by_name;
  std::unordered_map<double, int32_t> by_value;
  for (size_t i = 0; i < known.size(); ++i) {
    by_name.try_emplace(known[i], static_cast<int32_t>(i));
    const double value = view.from_numbers() ? ParseNumber(known[i]) : std::nan("");
    if (!std::isnan(value)) {
      by_value.try_emplace(value, static_cast<int32_t>(i));
    }
  }
  std::vector<int32_t> index;
  for (const std::string& name : view.names()) {
    const auto exact = by_name.find(name);
    if (exact != by_name.end()) {
      index.push_back(exact->second);
      continue;
    }
    const auto equal = by_value.find(ParseNumber(name));  // an empty map for text; NaN is never found
    index.push_back(equal == by_value.end() ? -1 : equal->second);
  }
  return index;
}

}  // namespace lamina
