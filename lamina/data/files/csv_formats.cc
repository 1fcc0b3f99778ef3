// Evidence from fields.
#include "lamina/data/files/csv_formats.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>

#include "lamina/data/files/csv_cursor.h"

namespace lamina {
namespace {

// What the fields of one column say.
struct Evidence {
  std::vector<FieldReadings> fields;
  int64_t points = 0;  // numbers with a decimal point only
  int64_t commas = 0;
  bool grouped_comma = false;  // 1,234
  int64_t days_first = 0;      // dates that are only so
  int64_t months_first = 0;
  bool open_date = false;  // 1/2/2023
  char date_mark = 0;

  void Add(std::string_view field, const MissingMarks& marks) {
    const FieldReadings readings = ReadingsOf(field, marks);
    points += readings.has_point && !readings.with_comma ? 1 : 0;
    commas += readings.has_comma && !readings.with_point ? 1 : 0;
    grouped_comma = grouped_comma || (readings.has_comma && readings.with_point);
    days_first += readings.day_first && !readings.month_first ? 1 : 0;
    months_first += readings.month_first && !readings.day_first ? 1 : 0;
    if (readings.day_first || readings.month_first) {
      open_date = open_date || (readings.day_first && readings.month_first);
      date_mark = field[field.find_first_of("/-.")];
    }
    fields.push_back(readings);
  }
  bool shows_decimal() const { return points != commas; }
  bool shows_order() const { return days_first != months_first; }
  FieldKind KindFor(char decimal) const {
    std::vector<FieldKind> kinds;
    kinds.reserve(fields.size());
    for (const FieldReadings& readings : fields) {
      kinds.push_back(readings.KindFor(decimal));
    }
    return DecideKind(kinds);
  }
};

// How an earlier file's columns of these names are written; null where that is not known.
std::vector<const ColumnFormat*> KnownFormats(const ReadOptions& options, std::span<const std::string> names) {
  std::unordered_map<std::string_view, const KnownColumn*> by_name;
  for (const KnownColumn& column : options.known_columns) {
    by_name.emplace(column.name, &column);
  }
  std::vector<const ColumnFormat*> formats;
  for (const std::string& name : names) {
    const auto known = by_name.find(name);
    formats.push_back(known == by_name.end() || known->second->format == ColumnFormat() ? nullptr
                                                                                        : &known->second->format);
  }
  return formats;
}

char DecimalOf(const Evidence& column, int64_t others, char separator, const ColumnFormat* known,
               const ReadOptions& options) {
  if (options.decimal != Decimal::kAuto) {
    return options.decimal == Decimal::kComma ? ',' : '.';
  }
  if (column.shows_decimal()) {
    return column.commas > column.points ? ',' : '.';
  }
  if (others != 0 && separator != ',') {  // the column itself needs quotes there, which is no habit of the file
    return others > 0 ? ',' : '.';
  }
  if (known != nullptr) {
    return known->decimal;
  }
  return column.grouped_comma && separator == ';' ? ',' : '.';
}

// Looks at the whole file, as far as it takes.
void LookFurther(const CsvText& text, bool header, const MissingMarks& marks, std::span<const size_t> open,
                 std::vector<Evidence>& evidence) {
  CsvCursor cursor(text.content, text.separator, text.source);
  bool first = header;
  const auto tells = [&](size_t j) { return evidence[j].shows_order(); };
  while (!cursor.AtEnd() && !std::all_of(open.begin(), open.end(), tells)) {
    if (cursor.SkipBlankLine() || cursor.SkipComment(evidence.size())) {
      continue;
    }
    size_t j = 0;
    do {
      const std::string_view field = cursor.NextField();
      if (!first && std::find(open.begin(), open.end(), j) != open.end() && !evidence[j].shows_order()) {
        evidence[j].fields.clear();  // not kept of a whole file
        evidence[j].Add(field, marks);
      }
      ++j;
    } while (!cursor.record_ended());
    first = false;
  }
}

void SetDateOrder(const Evidence& column, const ColumnFormat* known, const ReadOptions& options, ColumnFormat& format) {
  if (options.date_order != DateOrder::kAuto) {
    format.date_order = options.date_order;
  } else if (column.shows_order()) {
    format.date_order = column.days_first > column.months_first ? DateOrder::kDayFirst : DateOrder::kMonthFirst;
  } else if (known != nullptr && known->date_order != DateOrder::kAuto) {
    format.date_order = known->date_order;
  } else {
    format.date_order = column.date_mark == '/' ? DateOrder::kMonthFirst : DateOrder::kDayFirst;
    format.order_assumed = true;
  }
}

}  // namespace

std::vector<CsvColumnPlan> PlanColumns(const CsvSample& sample, bool header, const std::vector<std::string>& names,
                                       const CsvText& text, const MissingMarks& marks, const ReadOptions& options) {
  std::vector<Evidence> evidence(names.size());
  for (size_t r = header ? 1 : 0; r < sample.records.size(); ++r) {
    for (size_t j = 0; j < std::min(names.size(), sample.records[r].size()); ++j) {
      evidence[j].Add(sample.records[r][j], marks);
    }
  }
  int64_t comma_columns = 0;  // more than columns with points; below 0: fewer
  for (const Evidence& column : evidence) {
    comma_columns += column.shows_decimal() ? (column.commas > column.points ? 1 : -1) : 0;
  }
  const std::vector<const ColumnFormat*> known = KnownFormats(options, names);
  std::vector<CsvColumnPlan> plans(names.size());
  std::vector<size_t> open;
  for (size_t j = 0; j < names.size(); ++j) {
    plans[j].format.decimal = DecimalOf(evidence[j], comma_columns, text.separator, known[j], options);
    plans[j].kind = evidence[j].KindFor(plans[j].format.decimal);
    if (plans[j].kind == FieldKind::kDate && evidence[j].open_date && !evidence[j].shows_order() &&
        options.date_order == DateOrder::kAuto) {
      open.push_back(j);
    }
  }
  if (!open.empty()) {
    LookFurther(text, header, marks, open, evidence);
  }
  for (size_t j = 0; j < names.size(); ++j) {
    if (plans[j].kind == FieldKind::kDate && evidence[j].date_mark != 0) {
      SetDateOrder(evidence[j], known[j], options, plans[j].format);
    } else {
      plans[j].format.date_order = options.date_order;
    }
  }
  return plans;
}

}  // namespace lamina
