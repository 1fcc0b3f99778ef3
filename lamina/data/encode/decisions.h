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

/// How the file of `table` was read where that is not the usual way: its encoding, its sheet, where the table begins
/// and ends in it.
std::vector<ColumnDecision> DecisionsOnFile(const Table& table);

/// Those on the file, then in the order of the columns of `table`, which `fitted` was fitted on by `options`: what was
/// left out, how numbers and dates were read where that is not the usual way, what fills missing values of training
/// rows, and whole numbers that were taken for classes although they might be quantities.
std::vector<ColumnDecision> DecisionsOn(const Table& table, const Preprocessor& fitted,
                                        const PreprocessOptions& options);

/// A line for each input that tells the target alone (FindLeaks()) in the training rows `rows`.
std::vector<ColumnDecision> LeakDecisions(const Table& table, std::span<const int64_t> rows,
                                          const Preprocessor& fitted);

}  // namespace lamina
