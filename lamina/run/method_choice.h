// What --method auto is for the rows at hand: a kernel machine for small tables, a network for all others.
#pragma once

#include <span>
#include <string>

#include "lamina/run/run_plan.h"
#include "lamina/settings/settings.h"

namespace lamina {

struct MethodChoice {
  TrainSettings settings;  // with the recipe, and where a kernel machine is chosen, with method rfm and its split
  std::string remark;      // one line for the user about what was chosen, or empty
};

/// Effort quick is spelt out. Methods and recipes that are named stay. So does a network where a setting is given that
/// a kernel machine does not read. Where a kernel machine is chosen and no --split is given, validation rows train,
/// too: it leaves rows out itself.
MethodChoice ChooseMethod(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom = {});

}  // namespace lamina
