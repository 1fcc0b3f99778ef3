// Sentences from counts.
#include "lamina/data/encode/report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr size_t kNotedNames = 6;

// "columns: a, b", cut after a few.
std::string ColumnsText(const std::vector<std::string>& names) {
  const size_t shown = std::min(kNotedNames, names.size());
  return fmt::format("{}: {}{}", Plural(std::ssize(names), "column{s}"),
                     fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "),
                     shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
}

}  // namespace

std::vector<std::string> NotesOn(const EncodeReport& report, bool asked) {
  std::vector<std::string> notes;
  const auto add = [&](int64_t count, const std::string& what, const std::vector<std::string>& columns) {
    if (count > 0) {
      notes.push_back(fmt::format("{} ({})", Counted(count, what), ColumnsText(columns)));
    }
  };
  add(report.unseen_values, "value{s} of categories that training did not see became zeros", report.unseen_columns);
  if (asked) {
    std::string words;
    for (const std::string& word : report.odd_words) {
      words += fmt::format("{}'{}'", words.empty() ? "" : ", ", WithoutControls(Excerpt(word)));
    }
    add(report.odd_values, "cell{s} among numbers read as missing, like " + words, report.odd_columns);
  }
  add(report.filled_values, "missing value{s} filled in", report.filled_columns);
  if (asked) {
    add(report.far_values, "number{s} far outside of those of the training: the answers there are guesses",
        report.far_columns);
  }
  return notes;
}

std::string NewLabelsNote(const EncodeReport& report) {
  std::vector<std::pair<std::string, int64_t>> by_class;
  std::string names;
  for (const EncodeReport::NewLabel& label : report.new_labels) {
    constexpr size_t kShown_bytes = 60;
    if (names.size() < kShown_bytes) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", label.name);
    } else if (!names.ends_with("...")) {
      names += ", ...";
    }
    const auto same = [&](const auto& entry) { return entry.first == label.class_name; };
    auto found = std::find_if(by_class.begin(), by_class.end(), same);
    if (found == by_class.end()) {
      found = by_class.insert(by_class.end(), {label.class_name, 0});
    }
    found->second += label.rows;
  }
  if (report.new_labels.empty()) {
    return "";
  }
  std::string counts;
  for (const auto& [name, rows] : by_class) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", WithThousands(rows),
                          name.empty() ? "of no class of the model, which can only be wrong" : "are " + name);
  }
  return fmt::format("{} values of the target are not in the training rows ({}); rows: {}", report.new_labels.size(),
                     names, counts);
}

}  // namespace lamina
