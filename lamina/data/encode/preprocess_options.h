// What can be chosen about how columns become numbers.
#pragma once

#include <string>
#include <vector>

#include "lamina/data/encode/class_map.h"
#include "lamina/data/encode/derive.h"

namespace lamina {

enum class Encoding { kOneHot, kOrdinal };
/// kAuto: images value/255, other numbers standardized; kLog: sign(x) ln(1 + |x|), standardized.
enum class Scaling { kAuto, kNone, kStandardize, kMinMax, kLog };
enum class MissingPolicy { kError, kDropRow, kMean };
enum class UnseenPolicy { kError, kZero };
enum class Task { kAuto, kClassification, kRegression };

/// Cells that training rows do not have. They can be other ones than those of fitting.
struct EncodePolicies {
  MissingPolicy missing = MissingPolicy::kError;
  UnseenPolicy unseen = UnseenPolicy::kError;

  bool operator==(const EncodePolicies&) const = default;
};

/// What decides how inputs and targets are fitted, whatever network they are for (TargetForm is for it).
struct PreprocessOptions {
  std::vector<std::string> targets;         // names or numbers; empty: the last column
  std::vector<std::string> drop_columns;    // names or numbers, not used as inputs
  Encoding encoding = Encoding::kOneHot;    // of text columns
  Scaling scaling = Scaling::kAuto;         // of number columns
  Scaling target_scaling = Scaling::kNone;  // regression targets (kAuto: standardize)
  MissingPolicy missing = MissingPolicy::kError;
  UnseenPolicy unseen = UnseenPolicy::kError;
  Task task = Task::kAuto;  // kAuto: classification if the target is text, or integers with at
                            // most 100 values that occur twice or more on average (or 2 values)
  DeriveOptions derive;     // what Preprocessor::Prepare() adds to a table
  ClassMap class_map;       // of a classification target's values
  /// Leaves out columns that say nothing: constant ones, identifiers, free text (UselessColumns()).
  bool leave_out_useless = false;
  std::vector<std::string> use_columns;  // names or numbers of columns that are used all the same
  std::string baseline;  // regression: the naive guess, a column (not an input by that) or a number; empty: none

  bool operator==(const PreprocessOptions&) const = default;
};

}  // namespace lamina
