// Nearest neighbors over .npy files that need not fit in memory: what the program's command `neighbours` calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/base/file.h"
#include "lamina/base/setting.h"
#include "lamina/layer/neighbours.h"

namespace lamina {

class NpyMatrix;

struct FileNeighboursSettings {
  std::string x;
  std::string y;
  std::string out;
  std::string distances;
  int64_t k = 10;
  std::string metric = "l2";
  std::string backend = "auto";
  int64_t threads = 0;
};

template <>
std::span<const Setting<FileNeighboursSettings>> SettingRows();

/// Every file that it reads and writes, by its flag; those not given with an empty path.
inline FileUse FilesOf(const FileNeighboursSettings& settings) { return FilesOfSettings(settings); }

struct FileNeighboursResult {
  bool complete = false;  // false: stopped, and no file was written
  double seconds = 0;     // searching, with the files read and written through memory
  double synapses_per_second = 0;
};

/// Opens and checks the files; Run() searches.
class FileNeighbours {
 public:
  /// Throws Error: kInvalidArgument for settings and shapes that do not fit, kBadData and kIo for the files.
  explicit FileNeighbours(const FileNeighboursSettings& settings);
  ~FileNeighbours();

  /// Writes the outputs, whole or not at all. Throws Error as NearestRows(), and kIo where it finds no room on the
  /// disk.
  FileNeighboursResult Run(const SliceCallbacks& callbacks = {});

  int64_t x_rows() const;
  int64_t y_rows() const;
  int64_t columns() const;
  DType dtype() const;
  const Backend& backend() const { return *backend_; }
  const std::string& tuning_warning() const { return tuning_warning_; }  // of a stored profile that is ignored

 private:
  FileNeighboursSettings settings_;
  NeighbourOptions options_;
  std::unique_ptr<Backend> backend_;
  std::string tuning_warning_;
  std::unique_ptr<NpyMatrix> x_;
  std::unique_ptr<NpyMatrix> y_;
};

}  // namespace lamina
