// The names of what settings choose among, where the part of the library that they are for has no list of its own.
// Private to the settings.
#pragma once

#include "lamina/base/names.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/files/reader.h"

namespace lamina::setting_names {

inline constexpr Named<Header> kHeaders[] = {{"auto", Header::kAuto}, {"yes", Header::kYes}, {"no", Header::kNo}};
inline constexpr Named<MissingPolicy> kMissing[] = {
    {"error", MissingPolicy::kError}, {"drop", MissingPolicy::kDropRow}, {"mean", MissingPolicy::kMean}};
inline constexpr Named<UnseenPolicy> kUnseen[] = {
    {"auto", UnseenPolicy::kError}, {"error", UnseenPolicy::kError}, {"zero", UnseenPolicy::kZero}};
inline constexpr Named<Encoding> kEncodings[] = {{"onehot", Encoding::kOneHot}, {"ordinal", Encoding::kOrdinal}};
inline constexpr Named<Scaling> kScalings[] = {{"auto", Scaling::kAuto},
                                               {"none", Scaling::kNone},
                                               {"standardize", Scaling::kStandardize},
                                               {"minmax", Scaling::kMinMax},
                                               {"log", Scaling::kLog}};
inline constexpr Named<Task> kTasks[] = {
    {"auto", Task::kAuto}, {"classification", Task::kClassification}, {"regression", Task::kRegression}};
inline constexpr Named<char> kSeparators[] = {
    {"auto", '\0'}, {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"pipe", '|'}};
inline constexpr Named<DType> kTypes[] = {{"f32", DType::kF32}, {"f64", DType::kF64}};

}  // namespace lamina::setting_names
