// Guesses from the first records of a CSV file.
#include "lamina/data/files/csv_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/csv_cursor.h"

namespace lamina {
namespace {

constexpr size_t kSampleRecords = 64;
constexpr size_t kSample_bytes = 1 << 16;

// Fields of each record in the sample, taking quotes for what they mostly are; the last record may be cut
// off.
std::vector<size_t> CountFields(std::string_view content, char separator) {
  std::vector<size_t> counts;
  std::vector<size_t> of_comments;  // lines that start with '#', which may be records
  const std::string_view sample = content.substr(0, std::max(kSample_bytes, content.find('\n') + 1));
  size_t fields = 1;
  bool quoted = false;
  bool blank = true;
  bool comment = false;
  for (const char c : sample) {
    if (c == '"') {
      quoted = !quoted;
    }
    if (c == separator && !quoted) {
      ++fields;
    }
    if (c == '\n' && !quoted) {
      if (!blank) {
        (comment ? of_comments : counts).push_back(fields);
      }
      if (counts.size() == kSampleRecords) {
        break;
      }
      fields = 1;
      blank = true;
      comment = false;
    } else {
      comment = comment || (c == '#' && blank && !quoted);
      blank &= c == '\r' || c == ' ';
    }
  }
  return counts.empty() ? of_comments : counts;
}

bool SeenAgain(const CsvSample& sample, size_t column) {
  for (size_t r = 1; r < sample.records.size(); ++r) {
    if (column < sample.records[r].size() && sample.records[r][column] == sample.records[0][column]) {
      return true;
    }
  }
  return false;
}

[[noreturn]] void ThrowTooWide(CsvCursor& cursor, int64_t line, const std::string& source) {
  int64_t columns = kMostCsvColumns + 1;
  for (; !cursor.record_ended(); ++columns) {
    cursor.NextField();
  }
  throw Error(ErrorCode::kBadData,
              fmt::format("{} columns, at most {} are read", WithThousands(columns), WithThousands(kMostCsvColumns)),
              {.file = source, .line = line, .remedy = "Check --separator, or give so wide a table as a .npy file."});
}

// Whether all lines have as many fields as the first. `behind_titles`: all from some line on have; those above have
// fewer, and below there is one field (notes).
struct Evenness {
  size_t fields = 0;
  bool even = false;
  bool behind_titles = false;
};
Evenness EvennessOf(std::vector<size_t> counts) {
  if (std::all_of(counts.begin(), counts.end(), [&](size_t n) { return n == counts[0]; })) {
    return {counts[0], true, false};
  }
  const size_t first = counts[0];
  while (counts.size() > 1 && counts.back() == 1) {
    counts.pop_back();
  }
  const size_t fields = counts.back();
  const auto begin = std::find_if(counts.rbegin(), counts.rend(), [&](size_t n) { return n != fields; }).base();
  constexpr ptrdiff_t kLeast = 2;
  const bool behind = fields > 1 && counts.end() - begin >= kLeast &&
                      std::all_of(counts.begin(), begin, [&](size_t n) { return n < fields; });
  return behind ? Evenness{fields, false, true} : Evenness{first, false, false};
}

// Columns lined up with spaces: as many fields in every record of the sample, most of them below the first numbers.
bool IsSpaced(std::string_view content) {
  std::string sample(content.substr(0, kSample_bytes));
  if (sample.size() < content.size()) {
    sample.resize(sample.rfind('\n') + 1);
  }
  CollapseBlanks(sample);
  size_t records = 0;
  size_t fields = 0;
  size_t numbers = 0;
  bool unnamed_first = false;  // the first line has one field fewer: as R writes tables with names of rows
  for (const std::string_view line : SplitText(sample, '\n')) {
    if (line.empty() || line == "\r" || line.starts_with('#')) {
      continue;
    }
    const size_t count = FieldsOfLine(line, ' ');
    unnamed_first = unnamed_first || (records == 1 && count == fields + 1);
    if (count < 2 || (records > 0 && count != fields && (records > 1 || !unnamed_first))) {
      return false;
    }
    fields = count;
    if (++records > 1) {
      for (const std::string_view part : SplitText(line, ' ')) {
        numbers += ClassifyField(part, MissingMarks()) == FieldKind::kNumber ? 1 : 0;
      }
    }
  }
  return records > 1 && (unnamed_first ? numbers + 1 >= records : 2 * numbers > fields * (records - 1));
}

// Numbers that name columns: whole, each one more than the one before; years, or counted from 0 or 1.
bool AreNamesInTurn(std::span<const double> numbers, std::span<const std::string> first) {
  constexpr double kFirstYear = 1800;
  constexpr double kLastYear = 2200;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != std::trunc(numbers[i]) || (i > 0 && numbers[i] != numbers[i - 1] + 1)) {
      return false;
    }
  }
  const bool years = numbers.front() >= kFirstYear && numbers.back() <= kLastYear;
  const bool counted = numbers.front() == 0 || numbers.front() == 1;
  return years || (counted && (numbers.size() < first.size() || numbers.size() > 3));
}

// Whether the second record, too, holds numbers in turn: then the first one is data.
bool RepeatsInTurn(const CsvSample& sample) {
  const std::vector<std::string>& second = sample.records[1];
  for (size_t j = 1; j < second.size(); ++j) {
    const double before = ParseNumber(second[j - 1]);
    if (before == std::trunc(before) && ParseNumber(second[j]) == before + 1) {
      return true;
    }
  }
  return false;
}

bool DifferentWhereNamed(std::span<const std::string> first) {
  std::vector<std::string> names(first.begin(), first.end());
  std::erase(names, "");
  return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

}  // namespace

char DetectSeparator(std::string_view content) {
  char best = ',';
  Evenness of_best{.fields = 1};
  for (const char separator : {';', '\t', '|', ','}) {
    const std::vector<size_t> counts = CountFields(content, separator);
    const Evenness found = counts.empty() ? Evenness() : EvennessOf(counts);
    if (found.fields < 2) {
      continue;
    }
    const auto rank = [](const Evenness& of) { return of.even ? 2 : of.behind_titles ? 1 : 0; };
    // Commas may be decimal, as often in every line: where another one splits all lines evenly, it is that.
    const bool wins =
        separator == ',' && rank(of_best) > 0 ? false : rank(found) == rank(of_best) && found.fields > of_best.fields;
    if (rank(found) > rank(of_best) || wins) {
      best = separator;
      of_best = found;
    }
  }
  return of_best.fields == 1 && IsSpaced(content) ? ' ' : best;
}

void CsvSample::Erase(size_t first, size_t count) {
  const auto erase = [&](auto& from) {
    const auto begin = from.begin() + static_cast<ptrdiff_t>(first);
    from.erase(begin, begin + static_cast<ptrdiff_t>(count));
  };
  erase(records);
  erase(begins);
  erase(lines);
}

std::vector<FieldKind> SampleColumn(const CsvSample& sample, size_t column, size_t first_record,
                                    const MissingMarks& marks) {
  std::vector<FieldKind> kinds;
  for (size_t r = first_record; r < sample.records.size(); ++r) {
    if (column < sample.records[r].size()) {
      kinds.push_back(ClassifyField(sample.records[r][column], marks));
    }
  }
  return kinds;
}

CsvSample TakeSample(std::string_view content, char separator, const std::string& source, int64_t first_line) {
  CsvSample sample;
  CsvCursor cursor(content, separator, source, first_line);
  while (!cursor.AtEnd() && sample.records.size() < kSampleRecords) {
    if (cursor.SkipBlankLine() || (!sample.records.empty() && cursor.SkipComment(sample.records.front().size()))) {
      continue;
    }
    const int64_t line = cursor.line();
    sample.lines.push_back(line);
    sample.begins.push_back(static_cast<size_t>(cursor.at() - content.data()));
    std::vector<std::string>& record = sample.records.emplace_back();
    do {
      record.emplace_back(cursor.NextField());
      if (std::ssize(record) > kMostCsvColumns) {
        ThrowTooWide(cursor, line, source);
      }
    } while (!cursor.record_ended());
  }
  return sample;
}

bool NamesNumbers(const CsvSample& sample, const MissingMarks& marks) {
  const std::vector<std::string>& first = sample.records.front();
  for (size_t j = 0; j < first.size(); ++j) {
    if (ClassifyField(first[j], marks) == FieldKind::kText) {
      const FieldKind column = DecideKind(SampleColumn(sample, j, 1, marks));
      if (column == FieldKind::kNumber || column == FieldKind::kDate) {
        return true;
      }
    }
  }
  return false;
}

bool DetectHeader(const CsvSample& sample, const MissingMarks& marks) {
  const std::vector<std::string>& first = sample.records.front();
  bool all_named = true;  // all fields are text, or empty over values
  bool any_text = false;
  bool again = false;
  std::vector<double> numbers;  // names such as 2019, 2020
  for (size_t j = 0; j < first.size(); ++j) {
    const FieldKind kind = ClassifyField(first[j], marks);
    if (kind == FieldKind::kDate) {
      return false;
    }
    if (kind == FieldKind::kNumber) {
      numbers.push_back(ParseNumber(first[j]));
    } else if (kind == FieldKind::kText) {
      any_text = true;
      again |= SeenAgain(sample, j);
    } else {
      const std::vector<FieldKind> below = SampleColumn(sample, j, 1, marks);
      all_named &= std::count(below.begin(), below.end(), FieldKind::kMissing) == 0 && !below.empty();
    }
  }
  if (!numbers.empty()) {
    return numbers.size() > 1 && all_named && !again && sample.records.size() > 1 && AreNamesInTurn(numbers, first) &&
           !RepeatsInTurn(sample);
  }
  if (NamesNumbers(sample, marks)) {
    return true;
  }
  const bool distinct = DifferentWhereNamed(first);
  return any_text && all_named && distinct && !again;
}

void CollapseBlanks(std::string& content) {
  bool quoted = false;
  size_t size = 0;
  for (const char c : content) {
    quoted = quoted != (c == '"');
    const bool at_start = size == 0 || content[size - 1] == '\n';
    if (c == ' ' && !quoted && (at_start || content[size - 1] == ' ')) {
      continue;
    }
    size -= c == '\n' && !quoted && !at_start && content[size - 1] == ' ' ? 1 : 0;
    content[size++] = c;
  }
  content.resize(size);
}

}  // namespace lamina
