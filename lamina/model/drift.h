// New data against the training data of a model, column by column.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/encode/bound_table.h"
#include "lamina/model/data_profile.h"

namespace lamina {

/// The profile of at most kProfileRows of `rows`, evenly spread. Empty for images and for more than kProfileColumns
/// columns.
DataProfile ProfileOf(const BoundTable& table, const Preprocessor& preprocessor, std::span<const int64_t> rows);
inline constexpr int64_t kProfileRows = 20000;
inline constexpr size_t kProfileColumns = 500;

enum class DriftVerdict { kSame, kShifted, kDrifted };
std::string_view DriftVerdictName(DriftVerdict verdict);

struct ColumnDrift {
  std::string column;
  /// Population stability index: the sum over the bins of (new - old) ln(new / old), shares below 0.0001 taken as that.
  double stability_index = 0;
  /// Numbers: the largest difference of the shares below an edge (Kolmogorov-Smirnov on the edges); text: half the sum
  /// of the shares' differences.
  double distance = 0;
  double outside = 0;  // share of numbers below or above all of the training rows
  double unseen = 0;   // share of categories that training did not have
  double missing_before = 0;
  double missing = 0;
  /// By the index less what the numbers of rows alone explain, (bins - 1)(1/old rows + 1/new rows), twice: above 0.1
  /// shifted, above 0.25 drifted.
  DriftVerdict verdict = DriftVerdict::kSame;
};

/// How many of `rows` lie in each bin of the profile; those that miss the value stand last. A column of categories may
/// hold numbers in other data.
std::vector<double> CountInBins(const ColumnProfile& profile, const Column& column, std::span<const int64_t> rows);

/// What such counts tell: all but `outside` and `unseen`.
ColumnDrift DriftOfCounts(const ColumnProfile& profile, int64_t profile_rows, std::span<const double> counts);

/// The largest index first. `table` is bound to the preprocessor that `profile` belongs to. Throws Error(kBadData) for
/// text in a column that held numbers in training.
std::vector<ColumnDrift> CompareWithProfile(const DataProfile& profile, const BoundTable& table,
                                            const Preprocessor& preprocessor, std::span<const int64_t> rows);

nlohmann::json ToJson(const ColumnDrift& drift);

}  // namespace lamina
