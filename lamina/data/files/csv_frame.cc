// Titles, names, units and notes are told apart by how many fields a record fills and by what is below it.
#include "lamina/data/files/csv_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
  const auto filled = std::find_if(record.begin(), record.end(), [](const std::string& field) { return !field.empty(); });
  return filled == record.end() || ClassifyField(*filled, marks) == FieldKind::kText;
}

// The first record with `width` fields, where all before have fewer by more than one: R leaves out one name.
size_t ShorterTitles(const CsvSample& sample, size_t width) {
  const auto is_whole = [&](const Record& record) { return record.size() == width; };
  const auto first = std::find_if(sample.records.begin(), sample.records.end(), is_whole);
  const auto is_title = [&](const Record& record) { return record.size() == 1 || record.size() + 1 < width; };
  const bool titles = std::all_of(sample.records.begin(), first, is_title) &&
                      2 * std::count_if(first, sample.records.end(), is_whole) > sample.records.end() - first;
  return titles ? static_cast<size_t>(first - sample.records.begin()) : 0;
}

// How many records stand above the names, or above the first row where there are none.
size_t TitlesIn(const CsvSample& sample, size_t width, const MissingMarks& marks) {
  if (width < 2) {
    return 0;
  }
  const std::vector<Record>& records = sample.records;
  const size_t shorter = ShorterTitles(sample, width);
  const size_t used = UsedColumns(sample, shorter);
  size_t names = shorter;
  while (names < records.size() && 2 * FilledIn(records[names]) <= used && BeginsWithWord(records[names], marks)) {
    ++names;
  }
  if (names == shorter || names + 1 >= records.size() || records[names].size() != width) {
    return shorter;
  }
  const CsvSample table = SampleFrom(sample, names);
  return DetectHeader(table, marks) && (used > 2 || NamesNumbers(table, marks)) ? names : shorter;
}

bool LacksFirstName(const CsvSample& sample) {
  const size_t names = sample.records.front().size();
  return sample.records.size() > 1 &&
         std::all_of(sample.records.begin() + 1, sample.records.end(),
                     [&](const Record& record) { return record.size() == names + 1; });
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
  constexpr std::string_view kStrokes = "-=";
  constexpr ptrdiff_t kLeast = 3;
  return line.find_first_not_of("-+=|: \r") == std::string_view::npos &&
         std::count_if(line.begin(), line.end(), [&](char c) { return kStrokes.find(c) != std::string_view::npos; }) >=
             kLeast;
}

// Whether record 1 holds units: words over numbers and dates, nothing that is one.
bool HasUnits(const CsvSample& sample, const MissingMarks& marks) {
  constexpr size_t kLeastBelow = 3;
  constexpr size_t kLeastColumns = 2;
  if (sample.records.size() < 2 + kLeastBelow || sample.records[1].size() != sample.records[0].size()) {
    return false;
  }
  size_t numbers = 0;
  size_t words = 0;
  for (size_t j = 0; j < sample.records[1].size(); ++j) {
    const FieldKind kind = ClassifyField(sample.records[1][j], marks);
    const std::vector<FieldKind> below = SampleColumn(sample, j, 2, marks);
    const FieldKind column = DecideKind(below);
    if (kind == FieldKind::kNumber || kind == FieldKind::kDate) {
      return false;
    }
    if (column == FieldKind::kNumber || column == FieldKind::kDate) {
      const bool only = std::count(below.begin(), below.end(), FieldKind::kText) == 0;
      ++numbers;
      words += kind == FieldKind::kText && only ? 1 : 0;
    } else if (kind == FieldKind::kText) {  // a category comes again
      const auto again = [&](const Record& record) { return j < record.size() && record[j] == sample.records[1][j]; };
      if (std::any_of(sample.records.begin() + 2, sample.records.end(), again)) {
        return false;
      }
    }
  }
  return numbers >= kLeastColumns && 2 * words > numbers;
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
    } else if (line.find('"') != std::string_view::npos || FieldsOfLine(line, separator) != 1 || line.starts_with('#') ||
               (ClassifyField(line, marks) != FieldKind::kText && !IsRule(line))) {
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
    frame.end = BeginOfNotes(text, separator, marks);
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
  const auto skip = [&] {
    frame.lines.units = sample.lines[1];
    sample.Erase(1, 1);
    ++frame.below;
  };
  if (sample.records.size() > 1 && sample.records[0].size() > 1) {
    const std::string_view line = text.substr(sample.begins[1], text.find('\n', sample.begins[1]) - sample.begins[1]);
    if (IsRule(line)) {
      skip();
    }
  }
  if (HasUnits(sample, marks)) {
    skip();
  }
}

// Whether the last number of `column` is the sum or the mean of those above. `tells`: the sum, as it is not by chance.
bool LastIsOfAll(const Column& column, int64_t rows, bool& tells) {
  constexpr double kOfSum = 1e-6;
  constexpr double kOfMean = 1e-3;  // which is rounded
  constexpr size_t kLeastDifferent = 5;
  const double last = column.Number(rows - 1);
  double sum = 0;
  double size = 0;
  double largest = 0;
  int64_t count = 0;
  std::set<double> different;
  for (int64_t row = 0; row + 1 < rows; ++row) {
    const double value = column.Number(row);
    if (std::isnan(value)) {
      continue;
    }
    sum += value;
    size += std::abs(value);
    largest = std::max(largest, std::abs(value));
    ++count;
    if (different.size() < kLeastDifferent) {
      different.insert(value);
    }
  }
  column.Release();
  if (count > 0 && std::abs(last - sum) <= kOfSum * size) {
    tells = tells || (different.size() == kLeastDifferent && std::abs(last) > largest);
    return true;
  }
  const double mean = sum / static_cast<double>(count);
  return count > 0 && std::abs(last - mean) <= kOfMean * std::abs(mean);
}

// Whether the last row has another word or nothing where the rows above have something.
bool LastIsOdd(const Column& column, int64_t rows) {
  const int64_t last = rows - 1;
  if (column.kind == ColumnKind::kText && !column.IsMissing(last)) {
    const int32_t code = column.codes[static_cast<size_t>(last)];
    return std::find(column.codes.begin(), column.codes.end(), code) == column.codes.begin() + last;
  }
  return column.IsMissing(last);
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
  Record& first = frame.sample.records.front();
  const bool lacks = LacksFirstName(frame.sample);
  if (lacks) {
    first.insert(first.begin(), "");
  }
  frame.header = options.header == Header::kYes || options.header_line > 0 ||
                 (options.header == Header::kAuto && DetectHeader(frame.sample, marks));
  if (lacks && !frame.header) {
    first.erase(first.begin());
  }
  if (frame.names.empty() || lacks) {
    frame.names = first;
  }
  if (around && frame.header) {
    LookBelowNames(text, marks, frame);
  }
  frame.begin = frame.sample.begins.front();
  frame.line = frame.sample.lines.front();
  return frame;
}

bool EndsWithSums(const Table& table) {
  constexpr int64_t kLeastRows = 6;
  if (table.rows < kLeastRows) {
    return false;
  }
  bool tells = false;
  bool odd = false;
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kNumber && !column.is_date && !column.IsMissing(table.rows - 1)) {
      if (!LastIsOfAll(column, table.rows, tells)) {
        return false;
      }
    } else {
      odd = odd || LastIsOdd(column, table.rows);
    }
  }
  return tells && odd;
}

}  // namespace lamina
