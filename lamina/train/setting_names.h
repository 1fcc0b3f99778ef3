// The names of what settings choose among, where the part of the library that they are for has no list of its own.
// Private to the settings.
#pragma once

#include "lamina/base/names.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/files/reader.h"

namespace lamina::setting_names {

inline constexpr Named<Header> kHeaders[] = {{"auto", Header::kAuto}, {"yes", Header::kYes}, {"no", Header::kNo}};
inline constexpr Named<Decimal> kDecimals[] = {
    {"auto", Decimal::kAuto}, {"point", Decimal::kPoint}, {"comma", Decimal::kComma}};
inline constexpr Named<DateOrder> kDateOrders[] = {
    {"auto", DateOrder::kAuto}, {"day-first", DateOrder::kDayFirst}, {"month-first", DateOrder::kMonthFirst}};
inline constexpr Named<MissingPolicy> kMissing[] = {
    {"mean", MissingPolicy::kMean}, {"drop", MissingPolicy::kDropRow}, {"error", MissingPolicy::kError}};
inline constexpr Named<UnseenPolicy> kUnseen[] = {
    {"zero", UnseenPolicy::kZero}, {"error", UnseenPolicy::kError}, {"auto", UnseenPolicy::kZero}};  // of older files
inline constexpr Named<Encoding> kEncodings[] = {{"onehot", Encoding::kOneHot}, {"ordinal", Encoding::kOrdinal}};
inline constexpr Named<Scaling> kScalings[] = {{"auto", Scaling::kAuto},
                                               {"none", Scaling::kNone},
                                               {"standardize", Scaling::kStandardize},
                                               {"minmax", Scaling::kMinMax},
                                               {"log", Scaling::kLog}};
inline constexpr Named<Task> kTasks[] = {
    {"auto", Task::kAuto}, {"classification", Task::kClassification}, {"regression", Task::kRegression}};
inline constexpr Named<char> kSeparators[] = {{"auto", '\0'}, {"comma", ','}, {"semicolon", ';'},
                                              {"tab", '\t'},  {"pipe", '|'},  {"space", ' '}};
inline constexpr Named<DType> kTypes[] = {{"f32", DType::kF32}, {"f64", DType::kF64}};

}  // namespace lamina::setting_names
