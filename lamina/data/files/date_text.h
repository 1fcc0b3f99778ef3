// Dates as people and programs write them: in the usual orders, with times of day and zones.
#pragma once

#include <string_view>

#include "lamina/data/files/table.h"

namespace lamina {

/// Days since 1970-01-01 (proleptic Gregorian calendar) of 2024-03-01, 2024/3/1 or 2024.03.01. As `order` says (kAuto:
/// not at all), also of 01.03.2024, 1/3/2024 or 3-1-2024. Behind a 'T' or a blank there may be a time of day: 9:05,
/// 09:05:30, 09:05:30.25, 9:05 PM. It becomes a fraction of a day; a zone (Z, UTC, GMT+1, +01:00, -0500) takes it to
/// UTC. False if `text` is no such date.
bool ParseDate(std::string_view text, DateOrder order, double& days);

}  // namespace lamina
