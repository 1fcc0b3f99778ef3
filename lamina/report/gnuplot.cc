// gnuplot as a child process.
#include "lamina/report/gnuplot.h"

#include "lamina/base/child_process.h"
#include "lamina/platform/child.h"

namespace lamina {

std::string InstallGnuplot() { return platform::InstallCommand("gnuplot-nox", "gnuplot.gnuplot"); }

Verdict RunGnuplot(const std::string& folder, const std::string& script) {
  std::string quoted;  // as gnuplot's text between single quotation marks
  for (const char c : folder) {
    quoted.append(c == '\'' ? 2 : 1, c);
  }
  // Its warnings about empty ranges go nowhere.
  ChildProcess gnuplot({"gnuplot", "-e", "cd '" + quoted + "'", script}, {.remedy = InstallGnuplot()});
  gnuplot.Wait();
  if (Verdict started = gnuplot.started(); !started) {
    return started;
  }
  return gnuplot.exit_status() == 0 ? Verdict::Yes() : Verdict::No("gnuplot failed on " + script);
}

}  // namespace lamina
