// A hash table of words.
#include "lamina/data/files/csv_categories.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace lamina {

void CsvCategories::GrowSlots() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t e = 0; e < entries_.size(); ++e) {
    size_t slot = std::hash<std::string_view>()(entries_[e].text) & mask;
    while (slots_[slot] != 0) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = static_cast<uint32_t>(e + 1);
  }
}

bool CsvCategories::IsMissing(std::string_view text) const {
  switch (missing_) {
    case Missing::kMarks: return marks_->Contains(text);
    case Missing::kMarksOfAnswers: return marks_->ContainsAnswer(text);
    case Missing::kNone: break;
  }
  return false;
}

int32_t CsvCategories::CodeOf(std::string_view text) {
  if (last_entry_ < entries_.size() && entries_[last_entry_].text == text) {  // files are often sorted
    return entries_[last_entry_].code;
  }
  if (entries_.size() * 2 >= slots_.size()) {
    GrowSlots();
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>()(text) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    last_entry_ = slots_[slot] - 1;
    if (entries_[last_entry_].text == text) {
      return entries_[last_entry_].code;
    }
  }
  last_entry_ = entries_.size();
  entries_.push_back({std::string(text), IsMissing(text) ? -1 : next_code_++});
  slots_[slot] = static_cast<uint32_t>(entries_.size());
  return entries_.back().code;
}

std::vector<int32_t> CsvCategories::CodesOf(const CsvCategories& next) {
  std::vector<int32_t> codes;
  for (const Entry& entry : next.entries_) {
    const int32_t code = CodeOf(entry.text);
    if (entry.code >= 0) {
      codes.push_back(code);
    }
  }
  return codes;
}

std::vector<std::string> CsvCategories::Names() && {
  std::vector<std::string> names;
  for (Entry& entry : entries_) {
    if (entry.code >= 0) {
      names.push_back(std::move(entry.text));
    }
  }
  return names;
}

}  // namespace lamina
