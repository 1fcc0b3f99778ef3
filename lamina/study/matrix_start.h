// How long a program takes from its start to its end, where that is what a user waits for.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lamina {

struct ProgramStart {
  std::string what;
  double median_seconds = 0;  // from start to end
  double least_seconds = 0;
  bool verified = false;  // it ended well, and wrote what it should
};

/// Times `program` (lamina) saying its version and answering one row of a model of four inputs. A program that does
/// nothing takes turns with them. Fewer where `stop` says true. Throws Error where the model cannot be made.
std::vector<ProgramStart> MeasureStarts(const std::string& program, int rounds, const std::function<bool()>& stop);

}  // namespace lamina
