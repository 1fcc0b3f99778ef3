// What a run that goes on takes from its checkpoint: all but where files are written, which a file does not decide.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lamina/run/command_line.h"
#include "lamina/settings/settings.h"

namespace lamina {

struct ResumedSettings {
  TrainSettings settings;
  std::vector<SaidFlag> left_out;  // what the checkpoint's settings say and `settings` do not
};

/// `stored`, the settings in the file `checkpoint`, without those that decide where files are written
/// (Setting::DecidesWriting). The checkpoint's name says the rest. NAME.checkpoint goes with the model NAME where the
/// settings have a model of that file name. A --checkpoint of its file name is this file.
ResumedSettings ResumedFrom(const TrainSettings& stored, const std::string& checkpoint);

/// The settings stored in a checkpoint whose network may use `custom` activations. Throws Error(kNotFound | kIo |
/// kBadModel).
ResumedSettings ResumeSettings(const std::string& checkpoint, std::span<const Activation> custom = {});

/// "lamina train --resume FILE", with the flags that are to be given again.
std::string ResumeCommandLine(const TrainSettings& settings, const std::string& checkpoint);

}  // namespace lamina
