// gnuplot as a child process.
#include "lamina/report/gnuplot.h"

#include "lamina/base/child_process.h"

namespace lamina {
Verdict RunGnuplot(const std::string& folder, const std::string& script) {
  // Its warnings about empty ranges go nowhere.
  ChildProcess gnuplot({"gnuplot", script}, {.folder = folder, .remedy = "apt-get install gnuplot-nox"});
  gnuplot.Wait();
  if (Verdict started = gnuplot.started(); !started) {
    return started;
  }
  return gnuplot.exit_status() == 0 ? Verdict::Yes() : Verdict::No("gnuplot failed on " + script);
}

}  // namespace lamina
