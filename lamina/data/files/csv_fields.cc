// One field read in every way that it allows.
#include "lamina/data/files/csv_fields.h"

#include <algorithm>

#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/date_text.h"
#include "lamina/data/files/number_text.h"
#include "lamina/data/files/text_numbers.h"

namespace lamina {

FieldKind FieldReadings::Kind() const {
  const FieldKind kind = KindFor('.');
  return kind == FieldKind::kText && with_comma ? FieldKind::kNumber : kind;
}

FieldKind FieldReadings::KindFor(char decimal) const {
  if (missing) {
    return FieldKind::kMissing;
  }
  if (year_first || day_first || month_first) {
    return FieldKind::kDate;
  }
  return (decimal == ',' ? with_comma : with_point) ? FieldKind::kNumber : FieldKind::kText;
}

FieldReadings ReadingsOf(std::string_view field, const MissingMarks& marks) {
  FieldReadings readings;
  const std::string_view text = TrimField(field);
  double value = 0;
  readings.missing =
      marks.Contains(text) || (marks.has_numbers() && ParseWholeNumber(text, value) && marks.ContainsNumber(value));
  if (readings.missing || (ParseWholeNumber(text, value) && LosesDigits(text, value))) {
    return readings;
  }
  readings.year_first = ParseDate(text, DateOrder::kAuto, value);
  readings.day_first = !readings.year_first && ParseDate(text, DateOrder::kDayFirst, value);
  readings.month_first = !readings.year_first && ParseDate(text, DateOrder::kMonthFirst, value);
  NumberText number;
  readings.with_point = ParseWholeNumber(text, value) || ParseNumberText(text, '.', number);
  readings.has_point = readings.with_point && text.find('.') != std::string_view::npos;
  readings.with_comma = (!readings.has_point && ParseWholeNumber(text, value)) || ParseNumberText(text, ',', number);
  readings.has_comma = readings.with_comma && number.has_decimals;
  return readings;
}

FieldKind DecideKind(std::span<const FieldKind> sample) {
  const auto count = [&](FieldKind kind) { return std::count(sample.begin(), sample.end(), kind); };
  const auto numbers = count(FieldKind::kNumber);
  const auto dates = count(FieldKind::kDate);
  const auto texts = count(FieldKind::kText);
  const auto first = std::find_if(sample.begin(), sample.end(), [](FieldKind k) { return k != FieldKind::kMissing; });
  if (first == sample.end()) {
    return FieldKind::kMissing;
  }
  if (texts > numbers + dates || (texts == numbers + dates && *first == FieldKind::kText)) {
    return FieldKind::kText;
  }
  return dates > numbers || (dates == numbers && *first == FieldKind::kDate) ? FieldKind::kDate : FieldKind::kNumber;
}

}  // namespace lamina
