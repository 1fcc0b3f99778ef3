// Codes of the words of a column of text. Private to the CSV reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/missing_marks.h"

namespace lamina {

/// Numbers the words of a column in the order in which they come first.
class CsvCategories {
 public:
  /// Which words mean "no value" and have the code -1.
  enum class Missing { kNone, kMarks, kMarksOfAnswers };

  CsvCategories(const MissingMarks& marks, Missing missing) : marks_(&marks), missing_(missing) {}

  int32_t CodeOf(std::string_view text);
  /// The codes here of another column's codes, whose words come behind those of this one.
  std::vector<int32_t> CodesOf(const CsvCategories& next);
  /// The words by their codes.
  std::vector<std::string> Names() &&;
  /// Calls fn(word, its code) for every word that is no mark.
  template <class Fn>
  void ForWords(const Fn& fn) const {
    for (const Entry& entry : entries_) {
      if (entry.code >= 0) {
        fn(entry.text, entry.code);
      }
    }
  }
  int32_t size() const { return next_code_; }

 private:
  struct Entry {
    std::string text;
    int32_t code;
  };

  void GrowSlots();
  bool IsMissing(std::string_view text) const;

  const MissingMarks* marks_;
  Missing missing_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // open addressing: entry + 1, 0 is free; a power of two
  int32_t next_code_ = 0;
  size_t last_entry_ = 0;
};

}  // namespace lamina
