// The names of what settings choose among, where the part of the library that they are for has no list of its own.
// Private to the settings.
#pragma once

#include <string>
#include <vector>

#include "lamina/base/names.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/files/reader.h"

namespace lamina::setting_names {

inline constexpr Named<Header> kHeaders[] = {{"auto", Header::kAuto}, {"yes", Header::kYes}, {"no", Header::kNo}};
inline constexpr Named<Around> kArounds[] = {{"skip", Around::kSkip}, {"keep", Around::kKeep}};
inline constexpr Named<Decimal> kDecimals[] = {
    {"auto", Decimal::kAuto}, {"point", Decimal::kPoint}, {"comma", Decimal::kComma}};
inline constexpr Named<DateOrder> kDateOrders[] = {
    {"auto", DateOrder::kAuto}, {"day-first", DateOrder::kDayFirst}, {"month-first", DateOrder::kMonthFirst}};
inline constexpr Named<ColumnSelection> kSelections[] = {
    {"auto", ColumnSelection::kAuto}, {"telling", ColumnSelection::kTelling}, {"all", ColumnSelection::kAll}};
inline constexpr Named<MissingPolicy> kMissing[] = {{"mean", MissingPolicy::kMean},
                                                    {"median", MissingPolicy::kMedian},
                                                    {"drop", MissingPolicy::kDropRow},
                                                    {"error", MissingPolicy::kError}};
inline constexpr Named<NumberEncoding> kNumberEncodings[] = {{"scaled", NumberEncoding::kScaled},
                                                             {"ple", NumberEncoding::kPiecewise}};
inline constexpr Named<DateEncoding> kDateEncodings[] = {{"days", DateEncoding::kDays},
                                                         {"calendar", DateEncoding::kCalendar}};
inline constexpr Named<TextEncoding> kTextEncodings[] = {{"auto", TextEncoding::kAuto},
                                                         {"leave-out", TextEncoding::kLeaveOut},
                                                         {"score", TextEncoding::kScore},
                                                         {"hash", TextEncoding::kHash}};
inline constexpr Named<UnseenPolicy> kUnseen[] = {
    {"zero", UnseenPolicy::kZero}, {"error", UnseenPolicy::kError}, {"auto", UnseenPolicy::kZero}};  // of older files
inline constexpr Named<Encoding> kEncodings[] = {{"onehot", Encoding::kOneHot}, {"ordinal", Encoding::kOrdinal}};
inline constexpr Named<Scaling> kScalings[] = {
    {"auto", Scaling::kAuto},     {"none", Scaling::kNone}, {"standardize", Scaling::kStandardize},
    {"minmax", Scaling::kMinMax}, {"log", Scaling::kLog},   {"robust", Scaling::kRobust},
    {"size", Scaling::kSize}};
inline constexpr Named<Task> kTasks[] = {
    {"auto", Task::kAuto}, {"classification", Task::kClassification}, {"regression", Task::kRegression}};
inline constexpr Named<char> kSeparators[] = {{"auto", '\0'}, {"comma", ','}, {"semicolon", ';'},
                                              {"tab", '\t'},  {"pipe", '|'},  {"space", ' '}};
inline constexpr Named<bool> kGradients[] = {{"exact", false}, {"bf16", true}};
inline constexpr Named<DType> kTypes[] = {{"f32", DType::kF32}, {"f64", DType::kF64}};

/// The names of a table of Named, as choices of a row.
template <const auto& kTable>
std::vector<std::string> Names() {
  return NamesIn(kTable);
}

/// The same after "auto".
template <std::vector<std::string> (*kNames)()>
std::vector<std::string> AutoAnd() {
  std::vector<std::string> names = kNames();
  names.insert(names.begin(), "auto");
  return names;
}

}  // namespace lamina::setting_names
