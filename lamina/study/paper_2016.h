// The study of "Parallel Backpropagation for Multilayer Neural Networks" (Kamra, Goyal, Seo and Zois, 2016), redone on
// this machine: Figures 7 to 10, speed-ups, thread counts, accuracy after the same epochs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/measure/train_benchmark.h"
#include "lamina/report/report_writer.h"
#include "lamina/study/train_peers.h"

namespace lamina {

/// Rows to train on, and where there are real ones rows to test on.
struct Paper2016Data {
  std::string name;  // "mnist", "random numbers in the shape of MNIST"
  Dataset train;
  std::optional<Dataset> test;
  int64_t inputs() const { return train.features.cols(); }
  int64_t outputs() const { return train.targets.cols(); }
};

/// A data set of classes with its own test rows (MNIST: a folder of IDX files); at most `rows` rows, targets 0 and 1.
/// Throws Error.
Paper2016Data LoadPaper2016Data(const std::string& path, int64_t rows);
/// Random inputs and classes in the shape of MNIST.
Paper2016Data RandomPaper2016Data(int64_t rows);

/// One thing that was timed.
struct TimedTraining {
  std::string network;  // "Net-1h"
  std::string who;      // a backend, or a peer with its settings
  bool is_peer = false;
  int64_t batch = 0;
  int threads = 0;
  std::string reason;  // empty: it was measured
  double seconds = 0;  // per 60,000 samples, median of the rounds
  int64_t steps = 0;   // of the shortest round; the seconds are scaled from them
  double gflops = 0;
  bool verified = false;
  double largest_error = 0;
  double error_bound = 0;
  std::string description;

  bool done() const { return reason.empty(); }
};

struct Paper2016Options {
  std::vector<int64_t> hidden{1024, 1024};  // Net-1h has the first one
  std::vector<int64_t> batches{16, 32, 64, 128, 256, 512, 1024};
  int64_t thread_batch = 128;         // at which the numbers of threads are compared
  std::vector<std::string> backends;  // empty: all that the program knows, those that are not there with the reason
  int threads = 0;
  int rounds = 3;
  double round_seconds = 1.0;
  AccuracyRequest accuracy;  // needs data with test rows
  double load = 0;           // OtherLoad(), which the report tells
  /// Measures the peers; empty: none.
  std::function<std::vector<PeerResult>(const PeerRequest&)> peers;
  std::function<void(const TimedTraining&)> timed;  // progress
  std::function<void(const std::string& network, const std::string& who, double accuracy, double seconds)> trained;
  std::function<bool()> stop_requested;
  /// Checks a step against the reference; tests put a wrong result in its place.
  std::function<void(const TrainBenchmarkCase&, const std::vector<double>&, TrainBenchmarkResult&)> verify =
      VerifyTraining;
};

struct Paper2016Result {
  Report report;
  bool all_verified = false;
  bool interrupted = false;  // the report has gaps
};

/// Throws Error(kInvalidArgument | kUnsupported) for an unusable backend of `options.backends`.
Paper2016Result RunPaper2016(const Paper2016Data& data, const Paper2016Options& options);

}  // namespace lamina
