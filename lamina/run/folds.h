// Folds of cross-validation: every row is tested once, by a model that has not seen it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/files/table.h"
#include "lamina/settings/split.h"

namespace lamina {

struct FoldOptions {
  int64_t folds = 0;     // 0: none
  int64_t fold = 0;      // the one that is tested, from 1; 0: none
  std::string group;     // column whose equal values stay together
  std::string split_by;  // as SplitRowsBy(): text groups rows, numbers and dates order them
  bool bag = false;      // without a validation share the rows that are tested validate, too

  bool operator==(const FoldOptions&) const = default;
};

/// The fold that tests each of `rows`, from 1. Groups go whole to the fold with the fewest rows, the largest first.
/// Otherwise every stratum (a class per row, or empty) is dealt out evenly, at random. Ordered rows are cut into one
/// piece more than folds; the first piece is 0, never tested. Throws Error(kInvalidArgument) for fewer rows, groups or
/// different values than that needs.
std::vector<int64_t> AssignFolds(const Table& table, std::span<const int64_t> rows, std::span<const int32_t> strata,
                                 const FoldOptions& options, uint64_t seed);

/// The rows of fold options.fold are the test. The others train and validate by the shares of `split` (its test share
/// is ignored), groups whole. If rows are ordered, only those before the test do, and the last of them validate. In a
/// bag without a validation share, the tested rows are the validation rows, too.
Split SplitFold(const Table& table, std::span<const int64_t> rows, std::span<const int32_t> strata,
                const FoldOptions& options, const SplitOptions& split);

}  // namespace lamina
