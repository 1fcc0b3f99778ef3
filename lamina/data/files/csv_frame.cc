// Titles, names, units and notes are told apart by how many fields a record fills and by what is below it.
#include "lamina/data/files/csv_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/csv_cursor.h"

namespace lamina {
namespace {

using Record = std::vector<std::string>;

size_t FilledIn(const Record& record) {
  return record.size() - static_cast<size_t>(std::count(record.begin(), record.end(), ""));
}

// How many fields most records have; the most of those that are as frequent.
size_t WidthOf(const CsvSample& sample) {
  std::map<size_t, size_t> counts;
  for (const Record& record : sample.records) {
    ++counts[record.size()];
  }
  size_t width = 0;
  size_t most = 0;
  for (const auto& [size, count] : counts) {
    if (count >= most) {
      width = size;
      most = count;
    }
  }
  return width;
}

// Columns with a value in some record from `first` on.
size_t UsedColumns(const CsvSample& sample, size_t first) {
  std::set<size_t> used;
  for (size_t r = first; r < sample.records.size(); ++r) {
    for (size_t j = 0; j < sample.records[r].size(); ++j) {
      if (!sample.records[r][j].empty()) {
        used.insert(j);
      }
    }
  }
  return used.size();
}

CsvSample SampleFrom(const CsvSample& sample, size_t first) {
  CsvSample tail = sample;
  tail.Erase(0, first);
  return tail;
}

bool BeginsWithWord(const Record& record, const MissingMarks& marks) {
  const auto filled =
      std::find_if(record.begin(), record.end(), [](const std::string& field) { return !field.empty(); });
  return filled == record.end() || ClassifyField(*filled, marks) == FieldKind::kText;
}

// The records above the first one with `width` fields. They have fewer by more than one, since R leaves out one name;
// by any number where names are below them.
size_t UnevenTitles(const CsvSample& sample, size_t width, const MissingMarks& marks) {
  const auto is_whole = [&](const Record& record) { return record.size() == width; };
  const auto is_shorter = [&](const Record& record) { return record.size() == 1 || record.size() + 1 < width; };
  const auto first = std::find_if(sample.records.begin(), sample.records.end(), is_whole);
  const auto titles = static_cast<size_t>(first - sample.records.begin());
  if (std::all_of(sample.records.begin(), first, is_shorter)) {
    return 2 * std::count_if(first, sample.records.end(), is_whole) > sample.records.end() - first ? titles : 0;
  }
  const bool all_below = sample.records.end() - first > 2 && std::all_of(first, sample.records.end(), is_whole);
  return all_below && NamesNumbers(SampleFrom(sample, titles), marks) ? titles : 0;
}

bool NamesAt(const CsvSample& sample, size_t record, const MissingMarks& marks) {
  const CsvSample table = SampleFrom(sample, record);
  return table.records.size() > 1 && DetectHeader(table, marks) && NamesNumbers(table, marks);
}

// How many records stand above the names, or above the first row where there are none.
size_t TitlesIn(const CsvSample& sample, size_t width, const MissingMarks& marks) {
  if (width < 2) {
    return 0;
  }
  const std::vector<Record>& records = sample.records;
  const size_t uneven = UnevenTitles(sample, width, marks);
  const size_t used = UsedColumns(sample, uneven);
  size_t names = uneven;
  bool words = true;
  while (names < records.size() && 2 * FilledIn(records[names]) <= used) {
    words = words && BeginsWithWord(records[names], marks);
    ++names;
  }
  if (names == uneven || names + 1 >= records.size() || records[names].size() != width) {
    return uneven;
  }
  while (FilledIn(records[names + 1]) > FilledIn(records[names]) && NamesAt(sample, names + 1, marks)) {
    ++names;  // what is above fills fewer fields than the names
  }
  const CsvSample table = SampleFrom(sample, names);
  return DetectHeader(table, marks) && (NamesNumbers(table, marks) || (used > 2 && words)) ? names : uneven;
}

// Whether words among the fields name the columns that are asked for: numbers beside them are names, too. For a model
// all of its inputs must be there, since a row may hold a word that is the name of one.
bool HoldsNamesAskedFor(const Record& first, const MissingMarks& marks, const ReadOptions& options) {
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  const auto lacks = [&](const KnownColumn& column) {
    return !is_in(first, column.name) && !is_in(options.answer_columns, column.name);
  };
  const auto is_word_asked_for = [&](const std::string& field) {
    return ClassifyField(field, marks) == FieldKind::kText &&
           (is_in(options.answer_columns, field) ||
            std::ranges::find(options.known_columns, field, &KnownColumn::name) != options.known_columns.end());
  };
  return std::ranges::none_of(options.known_columns, lacks) && std::ranges::any_of(first, is_word_asked_for);
}

// Where all records have one field more than the names: a separator ends them, or the first column, different in each,
// has no name.
void AddLackingName(CsvSample& sample) {
  Record& names = sample.records.front();
  const auto begin = sample.records.begin() + 1;
  const auto is_longer = [&](const Record& record) { return record.size() == names.size() + 1; };
  if (begin == sample.records.end() || !std::all_of(begin, sample.records.end(), is_longer)) {
    return;
  }
  std::set<std::string> first;
  std::transform(begin, sample.records.end(), std::inserter(first, first.end()),
                 [](const Record& record) { return record.front(); });
  if (std::all_of(begin, sample.records.end(), [](const Record& record) { return record.back().empty(); })) {
    names.emplace_back();
  } else if (first.size() + 1 == sample.records.size()) {
    names.insert(names.begin(), "");
  }
}

// Names that recur, with what stands above them or above a column to the left: merged cells.
Record Distinguished(Record names, const Record& above) {
  std::map<std::string, int64_t> counts;
  for (const std::string& name : names) {
    ++counts[name];
  }
  std::string group;
  for (size_t j = 0; j < names.size(); ++j) {
    group = j < above.size() && !above[j].empty() ? above[j] : group;
    if (counts[names[j]] > 1 && !names[j].empty() && !group.empty()) {
      names[j] = fmt::format("{} {}", group, names[j]);
    }
  }
  return names;
}

bool IsRule(std::string_view line) {
  constexpr std::string_view kStrokes = "-=_";
  constexpr ptrdiff_t kLeast = 3;
  return line.find_first_not_of("-=_+|: \r") == std::string_view::npos &&
         std::count_if(line.begin(), line.end(), [&](char c) { return kStrokes.find(c) != std::string_view::npos; }) >=
             kLeast;
}

// What a column is below the first `units` records, and whether that is all that it is.
struct ColumnBelow {
  bool numbers = false;  // or dates
  bool only = false;
};
ColumnBelow BelowUnits(const CsvSample& sample, size_t column, size_t units, const MissingMarks& marks) {
  const std::vector<FieldKind> below = SampleColumn(sample, column, 1 + units, marks);
  const FieldKind kind = DecideKind(below);
  return {kind == FieldKind::kNumber || kind == FieldKind::kDate,
          std::count(below.begin(), below.end(), FieldKind::kText) == 0};
}

// Whether record `at`, one of `units` below the names, holds words over numbers and dates, and nothing that is one.
bool IsOfUnits(const CsvSample& sample, size_t at, size_t units, const MissingMarks& marks) {
  constexpr size_t kLeastColumns = 2;
  const Record& record = sample.records[at];
  size_t numbers = 0;
  size_t words = 0;
  for (size_t j = 0; j < record.size(); ++j) {
    const FieldKind kind = ClassifyField(record[j], marks);
    if (kind == FieldKind::kNumber || kind == FieldKind::kDate) {
      return false;
    }
    const ColumnBelow below = BelowUnits(sample, j, units, marks);
    const auto again = [&](const Record& other) { return j < other.size() && other[j] == record[j]; };
    if (below.numbers) {
      ++numbers;
      words += kind == FieldKind::kText && below.only ? 1 : 0;
    } else if (kind == FieldKind::kText &&  // a category comes again
               std::any_of(sample.records.begin() + 1 + static_cast<ptrdiff_t>(units), sample.records.end(), again)) {
      return false;
    }
  }
  return numbers >= kLeastColumns && 2 * words > numbers;
}

// How many records below the names hold units, or what else is said of columns there.
size_t UnitsBelow(const CsvSample& sample, const MissingMarks& marks) {
  constexpr size_t kMost = 3;
  constexpr size_t kLeastBelow = 3;
  for (size_t units = kMost; units > 0; --units) {
    bool all = sample.records.size() > units + kLeastBelow;
    for (size_t at = 1; all && at <= units; ++at) {
      all = sample.records[at].size() == sample.records[0].size() && IsOfUnits(sample, at, units, marks);
    }
    if (all) {
      return units;
    }
  }
  return 0;
}

// Where notes at the end begin; the size of `text` where there are none.
size_t BeginOfNotes(std::string_view text, char separator, const MissingMarks& marks) {
  constexpr int kMost = 30;
  size_t begin = text.size();
  std::string_view first;
  bool behind_blank = false;
  for (int lines = 0; begin > 0 && lines < kMost; ++lines) {
    const size_t before = begin < 2 ? std::string_view::npos : text.rfind('\n', begin - 2);
    const size_t at = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = TrimField(text.substr(at, begin - at - 1));
    if (line.empty()) {
      behind_blank = true;
    } else if (line.find('"') != std::string_view::npos || FieldsOfLine(line, separator) != 1 ||
               line.starts_with('#') || (ClassifyField(line, marks) != FieldKind::kText && !IsRule(line))) {
      break;
    } else {
      first = line;
      behind_blank = false;
    }
    begin = at;
  }
  const bool notes = !first.empty() && (behind_blank || first.find(' ') != std::string_view::npos || IsRule(first));
  return notes && begin > 0 ? begin : text.size();
}

void LookAround(std::string_view text, char separator, const MissingMarks& marks, const ReadOptions& options,
                CsvFrame& frame) {
  const size_t width = WidthOf(frame.sample);
  if (width > 1 && separator != ' ') {
    const size_t notes = BeginOfNotes(text, separator, marks);
    frame.end = notes > frame.sample.begins.front() ? notes : text.size();  // a table holds a record
    if (const size_t note = text.find_first_not_of(" \r\n", frame.end); note != std::string_view::npos) {
      frame.lines.notes = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(note), '\n');
    }
    const auto kept = std::lower_bound(frame.sample.begins.begin(), frame.sample.begins.end(), frame.end);
    const auto count = static_cast<size_t>(kept - frame.sample.begins.begin());
    frame.sample.Erase(count, frame.sample.records.size() - count);
  }
  if (options.header != Header::kAuto || options.header_line > 0) {
    return;
  }
  const size_t titles = TitlesIn(frame.sample, width, marks);
  if (titles > 0) {
    const Record above = frame.sample.records[titles - 1];
    frame.sample.Erase(0, titles);
    frame.lines.begin = frame.sample.lines.front();
    frame.names = Distinguished(frame.sample.records.front(), above);
  }
}

void LookBelowNames(std::string_view text, const MissingMarks& marks, CsvFrame& frame) {
  CsvSample& sample = frame.sample;
  const auto skip = [&](size_t count) {
    frame.lines.units = frame.lines.units == 0 ? sample.lines[1] : frame.lines.units;
    sample.Erase(1, count);
  };
  if (sample.records.size() > 1 && sample.records[0].size() > 1) {
    const std::string_view line = text.substr(sample.begins[1], text.find('\n', sample.begins[1]) - sample.begins[1]);
    if (IsRule(line)) {
      skip(1);
    }
  }
  if (const size_t units = UnitsBelow(sample, marks); units > 0) {
    skip(units);
  }
}

}  // namespace

size_t OffsetOfLine(std::string_view text, int64_t line) {
  size_t at = 0;
  for (int64_t i = 1; i < line && at < text.size(); ++i) {
    at = std::min(text.size(), text.find('\n', at)) + 1;
  }
  return std::min(at, text.size());
}

CsvFrame FindFrame(std::string_view text, char separator, const std::string& source, const MissingMarks& marks,
                   const ReadOptions& options) {
  const size_t asked = OffsetOfLine(text, options.header_line);
  if (asked == text.size()) {
    throw Error(ErrorCode::kInvalidArgument, "the names of columns cannot be there: it is behind the last line",
                {.file = source, .line = options.header_line, .setting = "header-line"});
  }
  CsvFrame frame;
  frame.sample = TakeSample(text.substr(asked), separator, source, std::max<int64_t>(1, options.header_line));
  for (size_t& begin : frame.sample.begins) {
    begin += asked;
  }
  frame.end = text.size();
  const bool around = options.around == Around::kSkip;
  if (around) {
    LookAround(text, separator, marks, options, frame);
  }
  const Record as_written = frame.sample.records.front();
  AddLackingName(frame.sample);
  frame.header =
      options.header == Header::kYes || options.header_line > 0 ||
      (options.header == Header::kAuto &&
       (DetectHeader(frame.sample, marks) || HoldsNamesAskedFor(frame.sample.records.front(), marks, options)));
  Record& first = frame.sample.records.front();
  if (!frame.header) {
    first = as_written;
  }
  if (frame.names.empty() || first.size() != frame.names.size()) {
    frame.names = first;
  }
  if (around && frame.header) {
    LookBelowNames(text, marks, frame);
  }
  frame.begin = frame.sample.begins.front();
  frame.line = frame.sample.lines.front();
  return frame;
}

}  // namespace lamina
