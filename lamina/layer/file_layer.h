// A layer over .npy files that need not fit in memory: what the program's command "layer" calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/file.h"
#include "lamina/layer/sliced_layer.h"

namespace lamina {

class NpyMatrix;

/// Every setting by the name of its flag; see VisitFileLayerSettings.
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

/// Calls visit.Group(title) and visit(name, field, help) for every setting, in the order of the help.
template <class S, class Visitor>
void VisitFileLayerSettings(S& s, Visitor&& visit) {
  visit.Group("Layer");
  visit("x", s.x, "Samples: a .npy matrix, samples x inputs; f8, f4, f2, i8, i4, i2, i1 or u1");
  visit("w", s.w, "Weights: a .npy matrix, neurons x inputs, of the type of the samples");
  visit("bias", s.bias, "Bias: a .npy array of one number a neuron");
  visit("out", s.out, "Write the outputs here: a .npy matrix, samples x neurons");
  visit("neuron", s.neuron, "Synapse and activation: rbf (l1-triangle), mul (dot-tanh), l2-gaussian, dot-sigmoid, ...");
  visit("radius", s.radius, "Radius of a triangle or gaussian activation");
  visit("neurons", s.neurons,
        "Without --w: this many neurons; distances take random rows of the samples as centres, dot random weights");
  visit("seed", s.seed, "Seed of those");
  visit("w-out", s.w_out, "Keep those weights in this .npy file");
  visit.Group("Slices and machine");
  visit("memory", s.memory, "Budget like 600M or 2GiB; default: three quarters of what is free");
  visit("asymmetry", s.asymmetry, "As: a slice for a size M has M*As samples and M/As neurons");
  visit("slice", s.slice, "Samples x neurons of a slice, such as 4096x1024, instead of the budget's choice");
  visit("precision", s.precision, "exact, or fast: l1 at the speed of a matrix product, with larger rounding errors");
  visit("backend", s.backend, "auto, cuda, cpu, threads or serial (blas gives no fixed order of sums)");
  visit("threads", s.threads, "Threads; 0: all cores");
}

/// Every file that it reads and writes, by its flag; those not given with an empty path.
FileUse FilesOf(const FileLayerSettings& settings);

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
  /// Of a budget, for the program and the kernels' scratch.
  static constexpr int64_t kReserved_bytes = 64 << 20;

  /// Throws Error: kInvalidArgument for settings and shapes that do not fit, kResource for a budget too small, kBadData
  /// and kIo for the files, kUnsupported where the backend cannot compute it.
  explicit FileLayer(const FileLayerSettings& settings);
  ~FileLayer();

  /// Writes the output, whole or not at all. Throws Error(kIo) where it finds no room on the disk.
  FileLayerResult Run(const SliceCallbacks& callbacks = {});

  const LayerSpec& layer() const { return layer_; }
  int64_t batch() const;
  DType dtype() const;
  const SlicePlan& plan() const { return plan_; }
  int64_t budget_bytes() const { return budget_bytes_; }
  const Backend& backend() const { return *backend_; }
  const std::string& tuning_warning() const { return tuning_warning_; }  // of a stored profile that is ignored

 private:
  void PlanLayer();
  void ReadBias();

  FileLayerSettings settings_;
  LayerSpec layer_;
  std::unique_ptr<Backend> backend_;
  std::string tuning_warning_;
  std::unique_ptr<NpyMatrix> x_;
  std::unique_ptr<NpyMatrix> w_;  // null: to be drawn
  Matrix bias_;
  SlicePlan plan_;
  int64_t budget_bytes_ = 0;
};

}  // namespace lamina
