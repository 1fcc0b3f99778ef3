// Presets: the networks of the three papers, and lamina's own default.
#pragma once

#include <QString>
#include <span>

#include "lamina/settings/settings.h"

namespace lamina::gui {

struct Preset {
  const char* name;  // of one of lamina's own: what stands before its layers
  const char* about;
  /// Sets the network and how it is trained; data, seed, machine and files stay.
  void (*apply)(TrainSettings& settings);
  bool by_recipe = false;  // a recipe says its layers
};

std::span<const Preset> Presets();
void ApplyPreset(const Preset& preset, TrainSettings& settings);
/// Whether the layers are those that the preset sets.
bool HasLayersOf(const Preset& preset, const TrainSettings& settings);
/// The preset's name; one of lamina's own names the layers, which go by the data: "lamina: 3 × 256 selu". `resolved`:
/// the settings that ApplyPreset makes, as a recipe completes them.
QString NameOfPreset(const Preset& preset, const TrainSettings& resolved);

}  // namespace lamina::gui
