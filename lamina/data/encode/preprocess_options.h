// What can be chosen about how columns become numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lamina/data/encode/class_map.h"
#include "lamina/data/encode/derive.h"

namespace lamina {

enum class Encoding { kOneHot, kOrdinal };
/// kAuto: images value/255, other numbers standardized; kLog: sign(x) ln(1 + |x|), standardized. kRobust: less the
/// median, over the span of the middle half of the rows; if that is 0, over half of the whole span. Inputs then go
/// through SmoothClip(). kSize: over the root mean square, so that zero stays zero.
enum class Scaling { kAuto, kNone, kStandardize, kMinMax, kLog, kRobust, kSize };
/// kPiecewise, instead of scaling: a number becomes one input for each bin between quantiles of the training rows. Each
/// rises from 0 to 1 within its bin (Gorishniy et al. 2022).
enum class NumberEncoding { kScaled, kPiecewise };
/// kCalendar: beside the day, where in the year, the week and the day it is, as sine and cosine.
enum class DateEncoding { kDays, kCalendar };
/// Which number columns are inputs. kTelling: without ColumnsThatTellNothing(); kAuto: so where there are more
/// than twice as many of them as training rows.
enum class ColumnSelection { kAll, kTelling, kAuto };
/// How free text (IsFreeText()) is encoded. kScore: as TextScores. kHash: hashes put its words and neighboring pairs
/// into this many buckets. kByTexts: kHash where TextsRecur(), else kScore. kAuto: kByTexts where TextsThatTell(), else
/// it is left out.
enum class TextEncoding { kAuto, kLeaveOut, kScore, kHash, kByTexts };
/// Whether words of all free text are read.
inline bool ReadsWords(TextEncoding text) { return text != TextEncoding::kAuto && text != TextEncoding::kLeaveOut; }
/// Whether texts may have scores.
inline bool MayScore(TextEncoding text) { return text == TextEncoding::kScore || text == TextEncoding::kByTexts; }
enum class MissingPolicy { kError, kDropRow, kMean, kMedian };
enum class UnseenPolicy { kError, kZero };
enum class Task { kAuto, kClassification, kRegression };

/// Whether missing inputs are made up.
inline bool Fills(MissingPolicy policy) { return policy == MissingPolicy::kMean || policy == MissingPolicy::kMedian; }

/// Cells that training rows do not have. They can be other ones than those of fitting.
struct EncodePolicies {
  MissingPolicy missing = MissingPolicy::kError;
  UnseenPolicy unseen = UnseenPolicy::kError;

  bool operator==(const EncodePolicies&) const = default;
};

/// What decides how inputs and targets are fitted, whatever network they are for (TargetForm is for it).
struct PreprocessOptions {
  std::vector<std::string> targets;              // names or numbers; empty: the last column
  std::vector<std::string> drop_columns;         // names or numbers, not used as inputs
  Encoding encoding = Encoding::kOneHot;         // of text columns
  Scaling scaling = Scaling::kAuto;              // of number columns
  Scaling auto_scaling = Scaling::kStandardize;  // what kAuto is for those that are no pixels
  bool limits_may_go = false;                    // kStandardize for kRobust where LimitsCutASum()
  Scaling target_scaling = Scaling::kNone;       // regression targets (kAuto: standardize)
  MissingPolicy missing = MissingPolicy::kError;
  std::vector<std::string> missing_values;  // marks of the training data's file, kept for those to come
  UnseenPolicy unseen = UnseenPolicy::kError;
  Task task = Task::kAuto;  // kAuto: classification if the target is text, or integers with at
                            // most 20 values that occur twice or more on average (or 2 values)
  DeriveOptions derive;     // what Preprocessor::Prepare() adds to a table
  ClassMap class_map;       // of a classification target's values
  /// Leaves out columns that say nothing: constant ones, identifiers, free text (UselessColumns()).
  bool leave_out_useless = false;
  std::vector<std::string> use_columns;  // names or numbers of columns that are used all the same
  ColumnSelection select = ColumnSelection::kAll;
  NumberEncoding numbers = NumberEncoding::kScaled;
  int64_t bins = 48;  // at most, of kPiecewise
  DateEncoding dates = DateEncoding::kDays;
  /// Names or numbers of number columns whose values are codes: those of min_count rows or more have an input each, the
  /// max_categories most frequent ones.
  std::vector<std::string> codes;
  bool find_codes = false;  // those of ColumnsOfCodes(), too
  TextEncoding text = TextEncoding::kLeaveOut;
  std::optional<int64_t> text_inputs;  // kHash: of each column of free text; none: InputsOfText()
  /// One more input for each column that lacks values in training rows. none: only for columns that lack a hundredth of
  /// at least 500 rows (docs/decisions/0046).
  std::optional<bool> missing_indicator;
  int64_t min_count = 1;          // one-hot categories of fewer training rows count as one, "other"
  int64_t max_categories = 1000;  // of one column; the most frequent stay, the others count as one
  std::string baseline;  // regression: the naive guess, a column (not an input by that) or a number; empty: none

  bool operator==(const PreprocessOptions&) const = default;
};

}  // namespace lamina
