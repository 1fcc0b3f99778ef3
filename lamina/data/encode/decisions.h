// What reading and fitting decided about columns without being told, for people to see and to change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/encode/preprocessor.h"

namespace lamina {

struct ColumnDecision {
  std::string column;
  std::string what;       // "left out: a different text in every row"
  std::string otherwise;  // the flag that decides otherwise, "--use id"

  /// "id: left out: a different text in every row (else --use id)".
  std::string Text() const;
};

/// How the file of `table` was read where that is unusual: its encoding, its sheet, and where the table begins and ends
/// in it.
std::vector<ColumnDecision> DecisionsOnFile(const Table& table);

/// The decisions on the file, then those on the columns of `table` in order; `fitted` was fitted on it by `options`.
/// They tell what was left out, unusual ways to read numbers and dates, and what fills missing values of training rows.
/// They also name whole numbers that were taken for classes although they might be quantities.
std::vector<ColumnDecision> DecisionsOn(const Table& table, const Preprocessor& fitted,
                                        const PreprocessOptions& options);

/// A line for each input that tells the target alone (FindLeaks()) in the training rows `rows`.
std::vector<ColumnDecision> LeakDecisions(const Table& table, std::span<const int64_t> rows,
                                          const Preprocessor& fitted);

}  // namespace lamina
