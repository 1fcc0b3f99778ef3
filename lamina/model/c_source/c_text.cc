// Names and values as C writes them.
#include "lamina/model/c_source/c_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr std::string_view kHeaders[] = {
    "assert", "complex", "ctype",  "errno",   "fenv",   "float",  "inttypes", "iso646", "limits", "locale", "math",
    "setjmp", "signal",  "stdarg", "stdbool", "stddef", "stdint", "stdio",    "stdlib", "string", "tgmath", "threads",
    "time",   "uchar",   "unistd", "wchar",   "wctype", "memory", "stdalign", "alloca", "malloc"};
constexpr size_t kLongestName = 40;
constexpr size_t kLongestString = 4095;  // C99, 5.2.4.1

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string WithPoint(const std::string& text) {
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

void RequireCName(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kLongestName && IsLetter(name[0]) &&
                    std::all_of(name.begin(), name.end(), [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
  if (!good) {
    throw Error(ErrorCode::kInvalidArgument, "--c takes the name that the C code begins its names with",
                {.value = std::string(name),
                 .remedy = fmt::format("Write a letter, then letters, digits and underscores, {} at most: digits.",
                                       kLongestName)});
  }
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return IsLetter(c) ? c | 0x20 : c; });
  if (std::find(std::begin(kHeaders), std::end(kHeaders), lower) != std::end(kHeaders)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--c: {}.h is a header of C", lower),
                {.value = std::string(name), .remedy = fmt::format("Choose another name: {}_model.", lower)});
  }
}

std::string UpperCName(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; });
  return upper;
}

std::string CNames::Add(std::string_view name, int64_t number) {
  std::string clean;
  for (const char c : name.substr(0, kLongestName)) {
    if (IsLetter(c) || IsDigit(c)) {
      clean += c;
    } else if (!clean.empty() && clean.back() != '_') {
      clean += '_';
    }
  }
  while (!clean.empty() && clean.back() == '_') {
    clean.pop_back();
  }
  const std::string first = prefix_ + (clean.empty() ? std::to_string(number) : clean);
  std::string made = first;
  for (int64_t count = 2; !taken_.insert(made).second; ++count) {
    made = fmt::format("{}_{}", first, count);
  }
  return made;
}

std::string CString(std::string_view text) {
  if (text.size() > kLongestString) {
    throw Error(ErrorCode::kUnsupported, fmt::format("C99 has no texts of {} bytes", text.size()),
                {.value = Excerpt(text), .remedy = "Train without the column (--drop), or with --text hash."});
  }
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F || c == kNameMark) {
      literal += fmt::format("\\{:03o}", byte);
    } else {
      literal += c == '"' || c == '\\' || c == '?' ? std::string("\\") + c : std::string(1, c);
    }
  }
  return literal + '"';
}

std::string CComment(std::string_view text) {
  std::string comment;
  for (const char c : WithoutControls(text)) {
    const char before = comment.empty() ? ' ' : comment.back();
    if ((before == '*' && c == '/') || (before == '/' && (c == '*' || c == '/')) || (before == '?' && c == '?')) {
      comment += ' ';
    }
    comment += c == '\\' ? '/' : c == kNameMark ? kKeptMark : c;
  }
  return comment;
}

std::string CDouble(double value) { return std::isnan(value) ? "NAN" : WithPoint(fmt::format("{}", value)); }

std::string CFloat(float value) { return std::isnan(value) ? "NAN" : WithPoint(fmt::format("{}", value)) + "F"; }

}  // namespace lamina
