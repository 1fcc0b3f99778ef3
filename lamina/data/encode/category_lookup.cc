// Matching categories by name.
#include "lamina/data/encode/category_lookup.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lamina/base/text.h"
#include "lamina/data/files/text_numbers.h"

namespace lamina {
namespace {

std::optional<bool> TruthOf(std::string_view name) {
  return name == "1" ? true : name == "0" ? false : ParseTruth(name);
}

}  // namespace

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
      own_names_.push_back(column.is_date ? DateText(value) : NumberName(value));
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
  std::optional<int32_t> truths[2];  // the places of "false" and "true"
  bool only_truths = true;
  for (size_t i = 0; i < known.size(); ++i) {
    const std::string_view name = Trim(known[i]);
    by_name.try_emplace(name, static_cast<int32_t>(i));
    if (const std::optional<bool> truth = ParseTruth(name)) {
      truths[*truth ? 1 : 0] = truths[*truth ? 1 : 0].value_or(static_cast<int32_t>(i));
    } else {
      only_truths = false;
    }
    const double value = view.from_numbers() ? ParseNumber(known[i]) : std::nan("");
    if (!std::isnan(value)) {
      by_value.try_emplace(value, static_cast<int32_t>(i));
    }
  }
  std::vector<int32_t> index;
  for (const std::string& text : view.names()) {
    const std::string_view name = Trim(text);
    const auto exact = by_name.find(name);
    if (exact != by_name.end()) {
      index.push_back(exact->second);
      continue;
    }
    if (const std::optional<bool> truth = only_truths ? TruthOf(name) : std::nullopt) {
      index.push_back(truths[*truth ? 1 : 0].value_or(-1));
      continue;
    }
    const auto equal = by_value.find(ParseNumber(name));  // an empty map for text; NaN is never found
    index.push_back(equal == by_value.end() ? -1 : equal->second);
  }
  return index;
}

}  // namespace lamina
