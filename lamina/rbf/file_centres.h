// Centers of the rows of a .npy file: what the program's command `centres` calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/base/file.h"
#include "lamina/base/setting.h"
#include "lamina/rbf/clusters.h"

namespace lamina {

class Communicator;  // cluster/communicator.h
class NpyMatrix;

struct FileCentresSettings {
  std::string x;
  std::string out;
  std::string method = "k-means";
  int64_t count = ClusterOptions{}.count;
  std::string start = "plusplus";
  int64_t iterations = ClusterOptions{}.iterations;
  int64_t batch = 0;
  int64_t shards = 0;
  uint64_t seed = 1;
  std::string backend = "auto";
  int64_t threads = 0;
};

template <>
std::span<const Setting<FileCentresSettings>> SettingRows();

/// Every file that it reads and writes, by its flag; those not given with an empty path.
inline FileUse FilesOf(const FileCentresSettings& settings) { return FilesOfSettings(settings); }

/// Opens and checks the file; Run() finds the centers.
class FileCentres {
 public:
  /// Throws Error: kInvalidArgument for settings that do not fit, kBadData and kIo for the file. `ranks`: those that
  /// share the rows; null: this process alone. All call Run() and see the same file; the first writes. It outlives
  /// this.
  explicit FileCentres(const FileCentresSettings& settings, Communicator* ranks = nullptr);
  ~FileCentres();

  /// Writes the output, whole or, where it is stopped, not at all. Throws Error as FindClusters(). Collective.
  Clusters Run(std::function<bool()> stop_requested = {},
               std::function<void(int64_t iteration, double mean_distance)> progress = {});

  int64_t rows() const;
  int64_t columns() const;
  DType dtype() const;
  int64_t shards() const { return options_.shards; }
  const Backend& backend() const { return *backend_; }
  const std::string& tuning_warning() const { return tuning_warning_; }  // of a stored profile that is ignored

 private:
  FileCentresSettings settings_;
  ClusterOptions options_;
  std::unique_ptr<Backend> backend_;
  std::string tuning_warning_;
  std::unique_ptr<NpyMatrix> x_;
};

}  // namespace lamina
