// A table answered by a model: the one way from raw rows to answers that the program, the window and reports take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/data/files/reader.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/model.h"
#include "lamina/model/scored_rows.h"

namespace lamina {

class BoundTable;  // data/encode/bound_table.h

/// Whether the right answers that a table may hold are looked at.
enum class Truth {
  kIgnored,
  kWherePresent,  // rows without one are answered, but not evaluated
  kRequired,  // an Error where the table has no target column, or a missing target that the model does not leave out
};

struct AnswerOptions {
  Truth truth = Truth::kIgnored;
  CostMatrix costs;     // of mistakes; empty: those the model was trained with
  bool scored = false;  // Answers::scored is wanted, too
};

/// Rows that miss a value, and where the first of them does.
struct LeftOut {
  int64_t rows = 0;
  int64_t row = 0;  // in the table, counted from 0
  std::string at;   // the same as people find it: Table::RowText()
  std::string column;

  /// "line 3, column 'size'".
  std::string Where() const;
  /// A note such as "2 of 40 rows have no answer: a value is missing, the first in line 3, column 'size'". `what`
  /// replaces "rows"; "" if there is none.
  std::string Note(int64_t all_rows, const std::string& what) const;
};

/// The `rows` that are not among `kept`, which are some of them in their order.
LeftOut LeftOutOf(const BoundTable& bound, std::span<const int64_t> rows, std::span<const int64_t> kept,
                  bool with_targets);

/// What a model says to some rows of a table. Rows that the model leaves out (MissingPolicy::kDropRow) keep their
/// place, without an answer.
struct Answers {
  std::vector<int64_t> rows;     // of the table, as asked for
  Matrix outputs;                // rows × outputs of PredictRows(); NaN without an answer
  std::vector<int32_t> classes;  // of each row; -1 without an answer; empty for regression
  LeftOut without_answer;
  EncodeReport report;
  std::vector<ColumnDecision> file;  // how the table's file was read
  double seconds = 0;                // of the network

  // Where the truth was looked at and the table has it:
  std::optional<Evaluation> evaluation;  // of the rows that have an answer and a truth
  LeftOut not_evaluated;                 // the others of `rows`
  Matrix truth;                          // regression: rows × targets in their units, NaN where not evaluated
  std::vector<int32_t> labels;           // classes: of each row; -1 where not evaluated or new to the model
  std::vector<ScoredRows> scored;        // where asked for: the evaluated rows, one a target
  std::vector<int64_t> scored_rows;      // which of the table those are

  bool has_answer(int64_t row) const;
  /// Notes on the answers, in sentences. They tell how the file was read, which values are unseen, odd, filled in or
  /// far outside, and which rows have no answer.
  std::vector<std::string> Notes() const;
};

/// Throws Error(kBadModel) for a network that is not fed from raw rows.
void RequireRawRows(const Model& model);

/// Reads what `path` names for this model; columns that it knows as text are read so. A folder of IDX files gives the
/// rows of `part`, "test" or "train". Throws Error; kBadModel for a network not fed from raw rows.
Table ReadTableFor(const Model& model, const std::string& path, ReadOptions options = {},
                   const std::string& part = "test");

/// Derives the model's columns in `table`, encodes `rows` of it, computes and, as `options.truth` says, compares.
/// Throws Error as Preprocessor::Encode() does, and kBadModel for an answer that is not a finite number.
Answers AnswerTable(const Model& model, const Backend& backend, Table& table, std::span<const int64_t> rows,
                    const AnswerOptions& options = {});

}  // namespace lamina
