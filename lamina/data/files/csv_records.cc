// Parts are read as if each began with a record; where the part before ends shows whether it did. Whatever does not fit
// together, and every error, is left to reading in order.
#include "lamina/data/files/csv_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kPart_bytes = 1 << 20;  // for less no thread is woken up

[[noreturn]] void ThrowRagged(CsvCursor& cursor, size_t expected, size_t found, int64_t line) {
  while (!cursor.record_ended()) {
    cursor.NextField();
    ++found;
  }
  throw Error(ErrorCode::kBadData,
              fmt::format("expected {} field{}, found {}", expected, expected == 1 ? "" : "s", found),
              {.file = cursor.source(),
               .line = line,
               .remedy = "Correct the line; fields that contain the separator must be quoted."});
}

constexpr size_t kRecordsAtOnce = 8192;  // before they may leave the memory, and somebody asks whether to stop

// Reads the records that begin before `limit`, and calls done(), which may bring it nearer, behind each.
template <class Done>
void ReadUntil(const char* const& limit, CsvCursor& cursor, CsvRecords& records, const Done& done) {
  std::vector<CsvColumnBuilder>& columns = records.columns;
  const bool skip_blank = columns.size() > 1;
  while (cursor.at() < limit) {
    if (skip_blank && (cursor.SkipBlankLine() || cursor.SkipComment(columns.size()))) {
      continue;
    }
    const int64_t line = cursor.line();
    for (size_t j = 0; j < columns.size(); ++j) {
      columns[j].Read(cursor);
      if (cursor.record_ended() != (j + 1 == columns.size())) {
        ThrowRagged(cursor, columns.size(), j + 1, line);
      }
    }
    records.lines.push_back(line);
    done();
  }
}

CsvRecords EmptyRecords(const CsvRecordsPlan& plan) {
  CsvRecords records;
  records.lines.reserve(plan.rows);
  records.columns.reserve(plan.names.size());
  for (size_t j = 0; j < plan.names.size(); ++j) {
    records.columns.emplace_back(plan.names[j], plan.columns[j], plan.rules);
  }
  return records;
}

void Reserve(size_t rows, CsvRecords& records) {
  for (CsvColumnBuilder& column : records.columns) {
    column.Reserve(rows);
  }
}

CsvRecords ReadInOrder(CsvCursor cursor, const CsvRecordsPlan& plan) {
  CsvRecords records = EmptyRecords(plan);
  Reserve(plan.rows, records);
  ReadUntil(cursor.end(), cursor, records, [&records] {
    if (records.lines.size() % kRecordsAtOnce == 0) {
      StopPoint();
    }
  });
  return records;
}

// Whether a record of as many columns begins at `at`, as far as its line tells.
bool LooksLikeRecord(const CsvCursor& text, const char* at, size_t columns) {
  constexpr int64_t kMost_bytes = 1 << 16;  // longer ones are not looked for
  std::string_view line(at, static_cast<size_t>(std::min<int64_t>(kMost_bytes, text.end() - at)));
  line = line.substr(0, line.rfind('\n') + 1);
  size_t fields = 0;
  CsvCursor cursor(line, text.separator(), text.source());
  try {
    for (bool more = !line.empty(); more; more = !cursor.record_ended()) {
      cursor.NextField();
      ++fields;
    }
  } catch (const Error&) {
    return false;
  }
  return fields == columns;
}

// Where parts begin: near what would be equal ones, as many of these as have a record there.
std::vector<const char*> Cut(const CsvCursor& text, int64_t parts, size_t columns) {
  constexpr int kLines = 64;  // that are tried
  std::vector<const char*> begins{text.at()};
  for (int64_t p = 1; p < parts; ++p) {
    const char* at = std::max(begins.back(), text.at() + (text.end() - text.at()) / parts * p);
    for (int i = 0; i < kLines && at < text.end(); ++i) {
      at = std::find(at, text.end(), '\n') + 1;  // the text ends with one
      if (at < text.end() && LooksLikeRecord(text, at, columns)) {
        begins.push_back(at);
        break;
      }
    }
  }
  return begins;
}

// A stretch of the text.
struct Part {
  CsvCursor cursor;   // counts lines from the part's first one
  const char* limit;  // where the next part begins
  CsvRecords records;
};

// Whether fn(i) is true for all i in [0, count), which threads share; false where one throws.
template <class Fn>
bool ForAll(size_t count, const Fn& fn) {
  std::atomic<bool> all{true};
  RunEach(UsualThreads(), static_cast<int64_t>(count), [&](int64_t i) {
    try {
      if (!fn(static_cast<size_t>(i))) {
        all = false;
      }
    } catch (const std::exception&) {
      all = false;
    }
  });
  return all;
}

// Appends all parts to the first one; false where they do not go together.
bool Join(std::vector<Part>& parts) {
  CsvRecords& all = parts.front().records;
  for (size_t p = 1; p < parts.size(); ++p) {
    if (parts[p - 1].cursor.at() != parts[p - 1].limit) {
      return false;
    }
  }
  int64_t lines_before = parts.front().cursor.line() - 1;
  for (size_t p = 1; p < parts.size(); ++p) {
    for (const int64_t line : parts[p].records.lines) {
      all.lines.push_back(lines_before + line);
    }
    lines_before += parts[p].cursor.line() - 1;
  }
  return ForAll(all.columns.size(), [&](size_t j) {
    return std::all_of(parts.begin() + 1, parts.end(),
                       [&](Part& part) { return all.columns[j].Append(std::move(part.records.columns[j])); });
  });
}

}  // namespace

CsvRecords ReadRecords(const CsvCursor& cursor, const CsvRecordsPlan& plan, int64_t parts) {
  // Where the sample has no value of a column, the first one decides what it is.
  const bool known = std::all_of(plan.columns.begin(), plan.columns.end(),
                                 [](const CsvColumnPlan& column) { return column.kind != FieldKind::kMissing; });
  if (parts == 0) {
    parts = std::clamp<int64_t>((cursor.end() - cursor.at()) / kPart_bytes, 1, UsualThreads());
  }
  if (parts < 2 || !known) {
    return ReadInOrder(cursor, plan);
  }
  const std::vector<const char*> begins = Cut(cursor, parts, plan.names.size());
  std::vector<Part> read;
  for (size_t p = 0; p < begins.size(); ++p) {
    const bool is_last = p + 1 == begins.size();
    const std::string_view rest(begins[p], static_cast<size_t>(cursor.end() - begins[p]));
    read.push_back({p == 0 ? cursor : CsvCursor(rest, cursor.separator(), cursor.source()),
                    is_last ? cursor.end() : begins[p + 1], EmptyRecords(plan)});
    Reserve(p == 0 ? plan.rows : plan.rows / begins.size(), read.back().records);
  }
  // The calling thread is asked for all of them.
  std::atomic<bool> stopped{false};
  const auto read_part = [&](size_t p) {
    CsvCursor at = read[p].cursor;  // in memory of the thread's own
    CsvRecords records = std::move(read[p].records);
    const char* limit = read[p].limit;
    ReadUntil(limit, at, records, [&] {
      if (records.lines.size() % kRecordsAtOnce == 0) {
        stopped = stopped || StopRequested();
        limit = stopped ? at.at() : limit;
      }
    });
    read[p].cursor = at;
    read[p].records = std::move(records);
    return true;
  };
  const bool whole = ForAll(read.size(), read_part);
  if (stopped) {
    throw Stopped();
  }
  if (whole && Join(read)) {
    return std::move(read.front().records);
  }
  read.clear();
  return ReadInOrder(cursor, plan);
}

CsvRecords ReadRecordsToFile(CsvCursor cursor, const CsvRecordsPlan& plan, const TextFile& text, NumberFile& numbers) {
  CsvRecords records = EmptyRecords(plan);
  for (size_t j = 0; j < records.columns.size(); ++j) {
    records.columns[j].KeepIn(numbers, static_cast<int64_t>(j));
  }
  const char* read = cursor.at();
  ReadUntil(cursor.end(), cursor, records, [&] {
    if (records.lines.size() % kRecordsAtOnce == 0) {
      StopPoint();
      text.Release(read, cursor.at());
      read = cursor.at();
    }
  });
  return records;
}

}  // namespace lamina
