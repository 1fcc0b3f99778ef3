// Other libraries' training steps, timed by bench/peers/train_cpu in processes of their own on the same data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lamina/base/scratch_folder.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

/// Training to compare accuracies after.
struct AccuracyRequest {
  int64_t rows = 60'000;  // the first ones
  int64_t epochs = 1;
  int64_t batch = 16;
  double learning_rate = 0.05;  // of the true gradient: the paper's 0.1
};

struct PeerRequest {
  std::vector<int64_t> shape;
  int64_t batch = 128;
  int rounds = 3;
  double seconds = 0.4;  // of a round
  int threads = 1;
  std::optional<AccuracyRequest> accuracy;
};

struct PeerResult {
  std::string library;      // "PyTorch"
  std::string settings;     // "default", "best"
  std::string description;  // version, threads
  std::string reason;       // empty: it was measured
  double seconds = 0;       // per 60,000 samples
  int64_t steps = 0;        // of the shortest round
  std::optional<double> accuracy;

  std::string Name() const { return library + ", " + settings; }
};

/// The data that peers read, in a temporary folder that goes with this object.
class PeerData {
 public:
  /// Writes inputs as f32 and class numbers as i32. Throws Error(kIo).
  PeerData(const Dataset& train, const Dataset* test);
  std::string folder() const { return folder_.Path(); }
  int64_t rows() const { return rows_; }
  int64_t test_rows() const { return test_rows_; }

 private:
  void Write(const std::string& name, const Dataset& dataset) const;
  ScratchFolder folder_;
  int64_t rows_;
  int64_t test_rows_ = 0;
};

/// Runs `script` (train_cpu) once, and ends it where `stop_requested` says so. Where it cannot be run, one result whose
/// reason says why; never throws for that.
std::vector<PeerResult> MeasurePeers(const std::string& script, const PeerRequest& request, const PeerData& data,
                                     const std::function<bool()>& stop_requested = {});

/// bench/peers/train_cpu of the source folder or the installation that this program is from, or "".
std::string FindPeerScript();

}  // namespace lamina
