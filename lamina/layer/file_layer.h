// A layer over .npy files that need not fit in memory: what the program's command "layer" calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/file.h"
#include "lamina/base/setting.h"
#include "lamina/layer/sliced_layer.h"

namespace lamina {

class Communicator;  // cluster/communicator.h
class NpyMatrix;

struct FileLayerSettings {
  std::string x;
  std::string w;
  std::string bias;
  std::string out;
  std::string neuron = "rbf";
  std::optional<double> radius;
  int64_t neurons = 0;
  uint64_t seed = 1;
  std::string w_out;
  std::string memory;
  double asymmetry = SliceOptions{}.asymmetry;
  std::string slice;
  std::string precision = "exact";
  std::string backend = "auto";
  int64_t threads = 0;
};

template <>
std::span<const Setting<FileLayerSettings>> SettingRows();

/// Every file that it reads and writes, by its flag; those not given with an empty path.
inline FileUse FilesOf(const FileLayerSettings& settings) { return FilesOfSettings(settings); }

struct FileLayerResult {
  bool complete = false;     // false: stopped, and no file was written
  double seconds = 0;        // computing, with the files read and written through memory
  double flush_seconds = 0;  // then, until the output was on the disk
  double synapses_per_second = 0;
  double t_syn_ns = 0;  // a synapse of the 2017 paper
};

/// Opens and checks the files and plans the slices; Run() computes.
class FileLayer {
 public:
  /// The part of a budget that is kept for the program and the kernels' scratch.
  static constexpr int64_t kReserved_bytes = 64 << 20;

  /// Throws Error: kInvalidArgument for settings and shapes that do not fit, kResource for a budget too small, kBadData
  /// and kIo for files. kUnsupported where the backend cannot compute it. `ranks`: those that compute the layer
  /// together, each some of the samples; null: this process alone. All make the same layer, call Run(), see the same
  /// files and write into one output, with the same bits. It outlives the layer.
  explicit FileLayer(const FileLayerSettings& settings, Communicator* ranks = nullptr);
  ~FileLayer();

  /// Writes the output, whole or not at all. Throws Error(kIo) where it finds no room on the disk. Collective.
  FileLayerResult Run(const SliceCallbacks& callbacks = {});

  const LayerSpec& layer() const { return layer_; }
  int64_t batch() const;
  int64_t own_batch() const { return own_count_; }  // of this rank
  DType dtype() const;
  const SlicePlan& plan() const { return plan_; }
  int64_t budget_bytes() const { return budget_bytes_; }
  const Backend& backend() const { return *backend_; }
  const std::string& tuning_warning() const { return tuning_warning_; }  // of a stored profile that is ignored

 private:
  void PlanLayer();
  void ShareSamples();
  int Threads() const;
  void ReadBias();

  FileLayerSettings settings_;
  Communicator* ranks_;
  int64_t own_begin_ = 0;  // samples of this rank
  int64_t own_count_ = 0;
  LayerSpec layer_;
  std::unique_ptr<Backend> backend_;
  std::string tuning_warning_;
  std::shared_ptr<NpyMatrix> x_;
  std::unique_ptr<NpyMatrix> w_;  // null: to be drawn
  Matrix bias_;
  SlicePlan plan_;
  int64_t budget_bytes_ = 0;
};

}  // namespace lamina
