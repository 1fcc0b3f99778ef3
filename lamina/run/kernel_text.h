// What a line, a kernel machine and trees chose and by what, in words: the same for program, window and page.
#pragma once

#include <string>
#include <vector>

#include "lamina/run/session.h"

namespace lamina {

/// The first tells of a line that answers first. One each tells the kernel chosen, the error of rows left out, who
/// solved, leaves, neurons pruned, and what was added to the ridge. Who solved is left out where this processor did as
/// asked. Beside a network (--recipe mixed) nothing else of a machine is told. The last line tells how many trees there
/// are, and how much they count. Empty for a model without any.
std::vector<std::string> FoundLines(const TrainSession& session);

}  // namespace lamina
