// Columns that no model learns from: constant ones, identifiers, free text, copies of others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

/// A column that fitting left out by itself.
struct LeftOutColumn {
  std::string name;
  std::string reason;  // "a different value in every row"
};

/// The columns at `positions` that say nothing in `rows` (20 at least, else none is judged):
/// - without a value, or with the same one everywhere;
/// - whole numbers, different in every row, that number the rows: rising or not, with gaps, from any number on. Years
///   stay, and so does what is called after a time or a rank ("t", "week", "time_index");
/// - whole numbers, different in every row, of a column called like an identifier ("id", "customer_id"). Any other
///   numbers are measurements, and so are dates;
/// - free text;
/// - the same values as a column before.
/// Numbered columns (p0, p1, p2, ...) are the parts of one vector: such numbers stay where they have a value. So do
/// images, and free text with `keep_free_text`.
std::vector<LeftOutColumn> UselessColumns(const Table& table, std::span<const int64_t> rows,
                                          std::span<const int64_t> positions, bool keep_free_text = false);

/// Text with a different value in every row, or in more than every second one (of 20 rows at least).
bool IsFreeText(const Column& column, std::span<const int64_t> rows);

/// Whether texts name something: a third of the rows that have one share it with another row, at least.
bool TextsRecur(const Column& column, std::span<const int64_t> rows);

/// The hashes that a column of free text usually has: 1,024 where its texts in `rows` have ten words
/// on average, else 256.
int64_t InputsOfText(const Column& column, std::span<const int64_t> rows);

}  // namespace lamina
