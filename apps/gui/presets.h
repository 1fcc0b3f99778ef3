// Presets: the networks of the three papers, and lamina's own default.
#pragma once

#include <QString>
#include <span>

#include "lamina/train/settings.h"

namespace lamina::gui {

struct Preset {
  const char* name;
  const char* about;
  /// Sets the network and how it is trained; data, seed, machine and files stay.
  void (*apply)(TrainSettings& settings);
};

std::span<const Preset> Presets();
void ApplyPreset(const Preset& preset, TrainSettings& settings);

}  // namespace lamina::gui
