// Codes of the words of a column of text. Private to the CSV reader.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// Numbers the words of a column in the order in which they come first.
class CsvCategories {
 public:
  /// Words of `missing` have the code -1.
  explicit CsvCategories(std::span<const std::string> missing) : missing_(missing) {}

  int32_t CodeOf(std::string_view text);
  /// The codes here of another column's codes, whose words come behind those of this one.
  std::vector<int32_t> CodesOf(const CsvCategories& next);
  /// The words by their codes.
  std::vector<std::string> Names() &&;

 private:
  struct Entry {
    std::string text;
    int32_t code;
  };

  void GrowSlots();

  std::span<const std::string> missing_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // open addressing: entry + 1, 0 is free; a power of two
  int32_t next_code_ = 0;
  size_t last_entry_ = 0;
};

}  // namespace lamina
