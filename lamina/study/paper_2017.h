// The study of "Optimization of GPU and CPU Acceleration for Neural Networks Layers" (Dogaru and Dogaru, 2017), redone
// on this machine: Fig. 4, Tables I to V, Figures 5 to 7, each beside what the paper printed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lamina/measure/layer_timer.h"
#include "lamina/report/report_writer.h"
#include "lamina/study/paper_2017_sizes.h"

namespace lamina {

struct Paper2017Options {
  Paper2017Sizes sizes = Paper2017Sizes::Full();
  std::string backend = "auto";  // of Fig. 4, Tables I to III and Fig. 5, in the place of the paper's GPU
  LayerTimerOptions timer;
};

struct Paper2017Result {
  Report report;
  bool all_verified = false;
  bool interrupted = false;  // the report has gaps
};

/// Takes a few minutes with the full sizes. Throws Error(kInvalidArgument | kUnsupported) for an unusable backend.
Paper2017Result RunPaper2017(const Paper2017Options& options);

}  // namespace lamina
