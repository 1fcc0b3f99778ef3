// The list of marks, and the look-up.
#include "lamina/data/files/missing_marks.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/text.h"

namespace lamina {
namespace {

// The first of them can be the name of a class.
constexpr std::string_view kMarks[] = {"none",    "nil",     "-",     "--",     ".",     "",       "na",      "n/a",
                                       "#n/a",    "#na",     "<na>",  "null",   "nan",   "?",      "#nv",     "#null!",
                                       "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#wert!", "#bezug!", "#zahl!"};
constexpr size_t kWords = 5;
constexpr size_t kLongest = 7;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return lower;
}

bool IsOneOf(std::string_view lower, std::span<const std::string_view> marks) {
  if (!lower.empty() && (lower[0] == '-' || lower[0] == '+') && lower.substr(1) == "nan") {
    return true;
  }
  return lower.size() <= kLongest && std::find(marks.begin(), marks.end(), lower) != marks.end();
}

}  // namespace

std::span<const std::string_view> CommonMissingMarks() { return kMarks; }

MissingMarks::MissingMarks(std::span<const std::string> more) {
  for (const std::string& mark : more) {
    more_.push_back(Lower(mark));
    double value = 0;
    const char* end = mark.data() + mark.size();
    const auto result = fast_float::from_chars(mark.data(), end, value);
    if (result.ec == std::errc() && result.ptr == end && std::isfinite(value)) {
      numbers_.push_back(value);
    }
  }
}

bool MissingMarks::Contains(std::string_view cell) const {
  if (cell.size() > kLongest && more_.empty()) {
    return false;
  }
  const std::string lower = Lower(cell);
  return IsOneOf(lower, kMarks) || std::find(more_.begin(), more_.end(), lower) != more_.end();
}

bool MissingMarks::ContainsAnswer(std::string_view cell) const {
  const std::string lower = Lower(cell);
  return IsOneOf(lower, std::span(kMarks).subspan(kWords)) ||
         std::find(more_.begin(), more_.end(), lower) != more_.end();
}

bool MissingMarks::ContainsNumber(double value) const {
  return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end();
}

}  // namespace lamina
