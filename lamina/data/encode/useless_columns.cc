// Judging columns by their values and names.
#include "lamina/data/encode/useless_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>

#include "lamina/base/text.h"
#include "lamina/base/utf8.h"
#include "lamina/data/encode/column_access.h"
#include "lamina/data/encode/text_hash.h"

namespace lamina {
namespace {

constexpr int64_t kLeastRows = 20;
constexpr int64_t kMostCategories = 20;  // fewer are never free text
constexpr int64_t kLeastFamily = 3;
constexpr double kMostGaps = 4;  // row numbers of a random part of the rows: one in so many at least

constexpr std::string_view kIdentifiers[] = {"id",    "uid", "uuid", "guid", "key", "index",     "idx",
                                             "rowid", "row", "nr",   "no",   "",    "unnamed: 0"};
constexpr std::string_view kIdentifierEndings[] = {"_id", "-id", " id", "_uuid", "_guid", "_key", "_nr", "_no"};

bool IsCalledIdentifier(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), AsciiLower);
  const bool camel = name.size() > 2 && (name.ends_with("Id") || name.ends_with("ID")) &&
                     std::islower(static_cast<unsigned char>(name[name.size() - 3])) != 0;
  return camel || std::find(std::begin(kIdentifiers), std::end(kIdentifiers), lower) != std::end(kIdentifiers) ||
         std::any_of(std::begin(kIdentifierEndings), std::end(kIdentifierEndings),
                     [&](std::string_view ending) { return lower.ends_with(ending); });
}

// What a trend may go along with, by a word of the name: "t", "week", "time_index", "Day number".
constexpr std::string_view kOfTime[] = {"t",    "time", "trend", "period", "step",  "tick",    "second", "minute",
                                        "hour", "day",  "date",  "week",   "month", "quarter", "year",   "rank"};

bool IsCalledTime(std::string_view name) {
  std::string word;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && std::isalpha(static_cast<unsigned char>(name[i])) != 0) {
      word.push_back(AsciiLower(name[i]));
      continue;
    }
    if (word.size() > 1 && word.ends_with('s')) {
      word.pop_back();
    }
    if (std::ranges::find(kOfTime, word) != std::end(kOfTime)) {
      return true;
    }
    word.clear();
  }
  return false;
}

// "p" of "p12"; "" where no number is behind a name.
std::string FamilyOf(const std::string& name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last == std::string::npos || last + 1 == name.size() ? "" : name.substr(0, last + 1);
}

// Different whole numbers that lie so close together that chance would have repeated some: they number the rows. Rising
// ones need no such proof. Years may be a trend, and stay.
bool NumberRows(std::span<const double> ascending, bool rising) {
  constexpr double kFirstYear = 1800;
  constexpr double kLastYear = 2200;
  constexpr double kLeastRepeats = 7;  // pairs expected of numbers drawn at random: none by chance once in 1,000
  const auto count = static_cast<double>(ascending.size());
  const double range = ascending.back() - ascending.front() + 1;
  if (ascending.front() < 0 || (ascending.front() >= kFirstYear && ascending.back() <= kLastYear)) {
    return false;
  }
  return range <= count * kMostGaps && (rising || count * count / (2 * range) >= kLeastRepeats);
}

bool IsIdentifier(const Column& column, std::span<const int64_t> rows) {
  bool rising = true;
  std::vector<double> values;
  for (const int64_t row : rows) {
    const double value = column.Number(row);
    if (value != std::trunc(value)) {  // or missing
      return false;
    }
    rising = rising && (values.empty() || value > values.back());
    values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end() &&
         ((NumberRows(values, rising) && !IsCalledTime(column.name)) || IsCalledIdentifier(column.name));
}

// `in_family`: a part of one vector, which stays where it has values.
std::string JudgeNumbers(const Column& column, std::span<const int64_t> rows, bool in_family) {
  double first = std::nan("");
  bool constant = true;
  for (size_t i = 0; i < rows.size() && constant; ++i) {
    const double value = column.Number(rows[i]);
    first = std::isnan(first) ? value : first;
    constant = std::isnan(value) || value == first;
  }
  if (constant && std::isnan(first)) {
    return "no value in the training rows";
  }
  if (in_family) {
    return "";
  }
  if (constant) {
    return fmt::format("always {}", column.is_date ? DateText(first) : NumberName(first));
  }
  return !column.is_date && IsIdentifier(column, rows) ? "a different whole number in every row" : "";
}

struct TextCount {
  std::vector<char> seen;  // of the column's categories
  int64_t different = 0;
  int64_t present = 0;

  bool is_free() const { return different > kMostCategories && 2 * different > present; }
};

TextCount CountText(const Column& column, std::span<const int64_t> rows) {
  TextCount count{std::vector<char>(column.categories.size())};
  for (const int64_t row : rows) {
    const int32_t code = column.codes[static_cast<size_t>(row)];
    if (code >= 0) {
      ++count.present;
      count.different += count.seen[static_cast<size_t>(code)] == 0 ? 1 : 0;
      count.seen[static_cast<size_t>(code)] = 1;
    }
  }
  return count;
}

std::string JudgeText(const Column& column, std::span<const int64_t> rows, bool keep_free) {
  const TextCount count = CountText(column, rows);
  const auto [seen, different, present] = count;
  if (different == 0) {
    return "no value in the training rows";
  }
  if (different == 1 && present == std::ssize(rows)) {
    const auto only = std::find(seen.begin(), seen.end(), 1) - seen.begin();
    return fmt::format("always '{}'", column.categories[static_cast<size_t>(only)]);
  }
  if (!count.is_free() || keep_free) {
    return "";
  }
  return different == present
             ? "a different text in every row"
             : fmt::format("{} different texts in {} rows", WithThousands(different), WithThousands(present));
}

// A hash of what a column holds in `rows`, equal for columns of equal values; text by where its values repeat.
uint64_t HashValues(const Column& column, std::span<const int64_t> rows) {
  uint64_t hash = 0;
  const auto mix = [&](uint64_t value) { hash = (std::rotl(hash, 5) ^ value) * 0x9E3779B97F4A7C15U; };
  if (column.kind == ColumnKind::kText) {
    for (const int64_t row : rows) {
      mix(static_cast<uint64_t>(column.codes[static_cast<size_t>(row)]));
    }
    return hash;
  }
  DispatchNumbers(column, [&](const auto* numbers) {
    for (const int64_t row : rows) {
      const auto value = static_cast<double>(numbers[row * column.stride]);
      mix(value == 0       ? 0  // one zero, whatever its sign
          : value == value ? std::bit_cast<uint64_t>(value)
                           : 1);  // and one NaN
    }
  });
  return hash;
}

bool SameValues(const Column& a, const Column& b, std::span<const int64_t> rows) {
  if (a.kind != b.kind) {
    return false;
  }
  return std::all_of(rows.begin(), rows.end(), [&](int64_t row) {
    if (a.IsMissing(row) || b.IsMissing(row)) {
      return a.IsMissing(row) && b.IsMissing(row);
    }
    if (a.kind == ColumnKind::kNumber) {
      return a.Number(row) == b.Number(row);
    }
    const auto i = static_cast<size_t>(row);
    return a.categories[static_cast<size_t>(a.codes[i])] == b.categories[static_cast<size_t>(b.codes[i])];
  });
}

// The columns seen so far, by their values.
class Copies {
 public:
  explicit Copies(std::span<const int64_t> rows) : rows_(rows) {}

  // The column that `column` repeats; null: none does, and it is one of them from now on.
  const Column* OriginalOf(const Column& column) {
    const uint64_t hash = HashValues(column, rows_);
    const auto [first, last] = seen_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      const bool same = SameValues(*it->second, column, rows_);
      it->second->Release();
      if (same) {
        return it->second;
      }
    }
    seen_.emplace(hash, &column);
    return nullptr;
  }

 private:
  std::span<const int64_t> rows_;
  std::unordered_multimap<uint64_t, const Column*> seen_;
};

}  // namespace

bool IsFreeText(const Column& column, std::span<const int64_t> rows) {
  return column.kind == ColumnKind::kText && std::ssize(rows) >= kLeastRows && CountText(column, rows).is_free();
}

bool TextsRecur(const Column& column, std::span<const int64_t> rows) {
  std::vector<int64_t> counts(column.categories.size());
  int64_t texts = 0;
  int64_t alone = 0;
  for (const int64_t row : rows) {
    if (const int32_t code = column.codes[static_cast<size_t>(row)]; code >= 0) {
      const int64_t count = ++counts[static_cast<size_t>(code)];
      alone += count == 1 ? 1 : count == 2 ? -1 : 0;
      ++texts;
    }
  }
  return 3 * (texts - alone) >= texts && texts > 0;
}

int64_t InputsOfText(const Column& column, std::span<const int64_t> rows) {
  constexpr int64_t kShort = 256;
  constexpr int64_t kLong = 1024;
  constexpr double kLong_words = 10;
  int64_t words = 0;
  int64_t texts = 0;
  for (const int64_t row : rows) {
    if (const int32_t code = column.codes[static_cast<size_t>(row)]; code >= 0) {
      words += CountWords(column.categories[static_cast<size_t>(code)]);
      ++texts;
    }
  }
  const auto least = static_cast<double>(std::max<int64_t>(1, texts));
  return static_cast<double>(words) >= kLong_words * least ? kLong : kShort;
}

std::vector<LeftOutColumn> UselessColumns(const Table& table, std::span<const int64_t> rows,
                                          std::span<const int64_t> positions, bool keep_free_text) {
  std::vector<LeftOutColumn> useless;
  if (table.is_image || std::ssize(rows) < kLeastRows) {
    return useless;
  }
  std::map<std::string, int64_t> families;
  for (const int64_t position : positions) {
    ++families[FamilyOf(table.columns[static_cast<size_t>(position)].name)];
  }
  std::vector<int64_t> in_order(rows.begin(), rows.end());
  std::sort(in_order.begin(), in_order.end());
  Copies copies(in_order);
  for (const int64_t position : positions) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    const std::string family = FamilyOf(column.name);
    const bool in_family = !family.empty() && families[family] >= kLeastFamily;
    std::string reason = column.kind == ColumnKind::kText ? JudgeText(column, in_order, keep_free_text)
                                                          : JudgeNumbers(column, in_order, in_family);
    if (reason.empty() && !in_family) {
      const Column* const original = copies.OriginalOf(column);
      reason = original == nullptr ? "" : fmt::format("the same values as '{}'", original->name);
    }
    if (!reason.empty()) {
      useless.push_back({column.name, std::move(reason)});
    }
    column.Release();
  }
  return useless;
}

}  // namespace lamina
