// The command that repeats a training run.
#pragma once

#include <string>
#include <string_view>

#include "lamina/train/settings.h"

namespace lamina {

/// "lamina train --data digits.csv.gz --hidden 64": every setting that is not the default, quoted for a POSIX shell.
std::string TrainCommandLine(const TrainSettings& settings);

/// `text` as one word of a POSIX shell.
std::string ShellWord(std::string_view text);

}  // namespace lamina
