// The load average, asked before anything is measured.
#include "lamina/study/other_load.h"

#include <fmt/format.h>

#include "lamina/platform/thread.h"

namespace lamina {

double OtherLoad() { return platform::LoadAverage(); }

std::string LoadRemark(double load, int processors) {
  constexpr double kBusy = 0.25;  // of the processors
  return load < kBusy * processors
             ? ""
             : fmt::format(
                   "This machine was busy before: {:.1f} programs wanted its {} processor{}. Times are too long "
                   "and differ from run to run; measure again when it rests.",
                   load, processors, processors == 1 ? "" : "s");
}

}  // namespace lamina
