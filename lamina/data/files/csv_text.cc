// Finds the table in the text, then reads every record in one pass; in two where a column turns out to be another kind.
#include "lamina/data/files/csv_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/csv_formats.h"
#include "lamina/data/files/csv_frame.h"
#include "lamina/data/files/csv_records.h"
#include "lamina/data/files/csv_sums.h"
#include "lamina/data/files/number_file.h"

namespace lamina {
namespace {

std::vector<std::string> ColumnNames(const CsvFrame& frame, const std::string& source) {
  const std::vector<std::string>& first = frame.names;
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (size_t j = 0; j < first.size(); ++j) {
    const std::string generated = fmt::format("c{}", j);
    names.push_back(frame.header && !first[j].empty() ? first[j] : generated);
  }
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw Error(
          ErrorCode::kBadData, "two columns have the same name",
          {.file = source, .line = frame.line, .column = name, .remedy = "Rename one of them in the header line."});
    }
  }
  return names;
}

// What is known of columns before they are read.
void ApplyKnown(const std::vector<std::string>& names, const ReadOptions& options, const std::string& source,
                std::vector<CsvColumnPlan>& plans) {
  Table table;  // for its look-up by name or number
  table.source = source;
  table.columns.resize(names.size());
  for (size_t j = 0; j < names.size(); ++j) {
    table.columns[j].name = names[j];
  }
  const auto decide = [&](int64_t column, FieldKind kind) {
    plans[static_cast<size_t>(column)].kind = kind;
    plans[static_cast<size_t>(column)].decided = true;
  };
  std::unordered_map<std::string_view, int64_t> positions;
  for (size_t j = 0; j < names.size() && !options.known_columns.empty(); ++j) {
    positions.emplace(names[j], static_cast<int64_t>(j));
  }
  for (const KnownColumn& known : options.known_columns) {
    if (const auto it = positions.find(known.name); it != positions.end()) {
      decide(it->second, known.kind == ColumnKind::kText ? FieldKind::kText
                         : known.is_date                 ? FieldKind::kDate
                                                         : FieldKind::kNumber);
      CsvColumnPlan& plan = plans[static_cast<size_t>(it->second)];
      ColumnFormat& format = plan.format;
      plan.is_flag = known.is_flag;
      format.unit = known.format.unit;  // amounts in another one are none of the model's
      format.date_order = format.date_order == DateOrder::kAuto ? known.format.date_order : format.date_order;
    }
  }
  for (const std::string& name : options.text_columns) {
    decide(table.FindColumn(name), FieldKind::kText);
  }
  for (const std::string& name : options.answer_columns) {
    if (const std::optional<int64_t> column = table.ColumnIfPresent(name)) {
      plans[static_cast<size_t>(*column)].is_answer = true;
    }
  }
}

size_t EstimateRows(std::string_view content, const CsvSample& sample) {
  size_t sample_bytes = 1;
  for (const auto& record : sample.records) {
    for (const std::string& field : record) {
      sample_bytes += field.size() + 1;
    }
  }
  const double per_record = static_cast<double>(sample_bytes) / static_cast<double>(sample.records.size());
  return std::min(content.size() / sample.records.front().size(),
                  static_cast<size_t>(1.1 * static_cast<double>(content.size()) / per_record)) +
         1;
}

// Changes the plans of columns that turned out to be something else; returns whether there are such. `words`: of few
// numbers, a column each.
bool ChangePlans(CsvRecords& records, std::vector<CsvColumnPlan>& plans, std::vector<std::string>& words) {
  bool changed = false;
  for (size_t j = 0; j < plans.size(); ++j) {
    const FieldKind before = records.columns[j].kind();
    const FieldKind kind = records.columns[j].KindByAll();
    if (kind != before) {
      words[j] = kind == FieldKind::kText ? records.columns[j].WordOfFew() : "";
      plans[j].kind = kind;
      changed = true;
    }
  }
  for (CsvColumnPlan& plan : plans) {
    plan.decided = plan.decided || changed;
  }
  return changed;
}

// Reads the records of `frame`, twice where columns turn out to be of another kind.
class FramedReader {
 public:
  FramedReader(const CsvTextSource& from, const CsvFrame& frame, const ReadOptions& options)
      : from_(from),
        frame_(frame),
        options_(options),
        marks_(options.missing_values),
        names_(ColumnNames(frame, from.source)),
        words_(names_.size()) {
    plans_ = PlanColumns(frame.sample, frame.header, names_, {Rest(), from.separator, from.source}, marks_, options);
    ApplyKnown(names_, options, from.source, plans_);
  }

  Table Read() {
    CsvRecords records = ReadAll();
    if (records.lines.empty()) {
      throw Error(ErrorCode::kBadData, "holds no rows, only a header line",
                  {.file = from_.source, .remedy = "If the first line is data, use --header no."});
    }
    if (ChangePlans(records, plans_, words_)) {
      from_.restore();
      records = {};
      records = ReadAll();
    }
    size_t columns = names_.size();  // without those behind a last separator of every line
    while (frame_.header && columns > 1 && frame_.names[columns - 1].empty() &&
           records.columns[columns - 1].kind() == FieldKind::kMissing) {
      --columns;
    }
    Table table;
    table.source = from_.source;
    table.has_names = frame_.header;
    table.frame = frame_.lines;
    table.rows = std::ssize(records.lines);
    table.lines = std::move(records.lines);
    for (size_t j = 0; j < columns; ++j) {
      table.columns.push_back(std::move(records.columns[j]).Finish());
      table.columns[j].word_of_few = words_[j];
    }
    return table;
  }

 private:
  // From the names on.
  std::string_view Rest() const { return from_.text.substr(frame_.begin, frame_.end - frame_.begin); }

  // At the first record behind the names and what is said of them; at the end where there is none.
  CsvCursor AtFirstRow() const {
    const CsvSample& sample = frame_.sample;
    if (const size_t first = frame_.header ? 1 : 0; first < sample.begins.size()) {
      const size_t begin = sample.begins[first];
      return {from_.text.substr(begin, frame_.end - begin), from_.separator, from_.source, sample.lines[first]};
    }
    CsvCursor cursor(Rest(), from_.separator, from_.source, frame_.line);  // the names alone fill the sample
    while (!cursor.AtEnd() && (cursor.NextField(), !cursor.record_ended())) {
    }
    return cursor;
  }

  CsvRecords ReadAll() {
    const std::string_view text = Rest();
    const CsvRecordsPlan plan{names_, plans_, CsvRules{from_.source, marks_, options_.strict},
                              EstimateRows(text, frame_.sample)};
    CsvCursor cursor = AtFirstRow();
    if (from_.file == nullptr) {
      return ReadRecords(cursor, plan, options_.parts);
    }
    const int64_t columns = std::ssize(plan.names);  // a field has a byte at least, its separator
    numbers_ = std::make_unique<NumberFile>(options_.scratch, columns, std::ssize(text) / columns + 1);
    return ReadRecordsToFile(cursor, plan, *from_.file, *numbers_);
  }

  const CsvTextSource& from_;
  const CsvFrame& frame_;
  const ReadOptions& options_;
  MissingMarks marks_;
  std::vector<std::string> names_;
  std::vector<CsvColumnPlan> plans_;
  std::vector<std::string> words_;       // of few numbers, a column each
  std::unique_ptr<NumberFile> numbers_;  // what the columns need as long as they are not finished
};

}  // namespace

Table ReadCsvText(const CsvTextSource& from, const ReadOptions& options) {
  CsvFrame frame = FindFrame(from.text, from.separator, from.source, MissingMarks(options.missing_values), options);
  Table table = FramedReader(from, frame, options).Read();
  const int64_t sums = options.around == Around::kKeep ? -1 : RowOfSums(table);
  if (sums < 0) {
    return table;
  }
  frame.lines.sums = table.lines[static_cast<size_t>(sums)];
  if (const int64_t note = FirstFilledRow(table, sums); note >= 0) {
    frame.lines.notes = table.lines[static_cast<size_t>(note)];
  }
  frame.end = OffsetOfLine(from.text, frame.lines.sums);
  const auto is_behind = [&](size_t begin) { return begin >= frame.end; };
  const auto kept = std::find_if(frame.sample.begins.begin(), frame.sample.begins.end(), is_behind);
  const auto count = static_cast<size_t>(kept - frame.sample.begins.begin());
  frame.sample.Erase(count, frame.sample.begins.size() - count);
  from.restore();
  table = {};
  return FramedReader(from, frame, options).Read();
}

}  // namespace lamina
