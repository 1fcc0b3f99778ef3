// What a kernel machine chose and by what, in words: the same for program, window and page.
#pragma once

#include <string>
#include <vector>

#include "lamina/run/session.h"

namespace lamina {

/// One line each tells the kernel chosen, the error of rows left out, who solved, leaves, neurons pruned, and what was
/// added to the ridge. Who solved is left out where this processor did as asked. Beside a network (--recipe mixed)
/// nothing else is told. Empty for a model without a kernel machine.
std::vector<std::string> KernelChoiceLines(const TrainSession& session);

}  // namespace lamina
