// Tables and figures of the study of 2016, from what it found out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lamina/study/paper_2016.h"

namespace lamina {

/// Everything that was found out, for the tables.
struct TrainedAccuracy {
  std::string network;
  std::string who;
  bool is_peer = false;
  double accuracy = 0;
  double seconds = 0;  // of training; 0 for peers
};
struct Paper2016Findings {
  std::vector<std::pair<std::string, std::vector<int64_t>>> networks;  // name, shape
  std::vector<TimedTraining> timings;                                  // with all threads, by network and batch
  std::vector<TimedTraining> by_threads;
  std::vector<TrainedAccuracy> accuracies;
  std::vector<PeerResult> peers;  // one a library and settings
  double fma_peak_gflops = 0;     // of all threads
  int threads = 0;
  bool interrupted = false;
};

/// Accuracies of backends may differ by rounding only: by at most this much from the baseline's.
inline constexpr double kAccuracyTolerance = 0.01;

Report Paper2016Report(const Paper2016Data& data, const Paper2016Options& options, const Paper2016Findings& findings);

}  // namespace lamina
