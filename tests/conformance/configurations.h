// Every way this build can compute a layer: backend × kernel × instruction set × threads. And matrices that
// are strided and misaligned on purpose, with guards around them.
#pragma once

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/staged_layer.h"
#include "tests/amx/emulated_backend.h"
#include "tests/compare.h"
#include "tests/cuda/emulated_backend.h"
#include "tests/cuda/softsign.h"
#include "tests/oracle.h"
#include "tests/thin.h"

namespace lamina::conformance {

using oracle::Dense;

inline constexpr std::string_view kEmulatedCuda = "cuda_emulated";
inline constexpr std::string_view kEmulatedAmx = "cpu_amx_emulated";

/// The GPU where there is one, else its emulation, else "".
inline std::string_view CudaUnderTest() {
  return BackendTable().front().name == "cuda" && BackendTable().front().available() ? "cuda"
         : cuda_emulated::Compiled()                                                 ? kEmulatedCuda
                                                                                     : "";
}

/// A user's activation for every backend under test.
inline Activation SoftsignActivation() {
  return CudaUnderTest() == "cuda" ? SoftsignOnDevice() : cuda_emulated::SoftsignOnDevice();
}

struct Configuration {
  std::string backend;
  std::string kernel = "auto";
  std::string target;  // instruction set of cpu; "" elsewhere
  int threads = 1;

  std::string Name() const {
    std::string name = backend + (kernel == "auto" ? "" : "_" + kernel) + (target.empty() ? "" : "_" + target);
    std::replace(name.begin(), name.end(), '-', '_');
    return name + "_" + std::to_string(threads);
  }
  bool OnlyF32() const { return kernel == "medium" || kernel.starts_with("paper"); }
  bool Supports(DType dtype) const { return !OnlyF32() || dtype == DType::kF32; }
  bool Supports(Synapse synapse) const { return synapse == Synapse::kDot || backend != "blas"; }
  /// The distances among the synapses that this configuration computes.
  std::vector<Synapse> Distances() const {
    return Supports(Synapse::kL1) ? std::vector{Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}
                                  : std::vector<Synapse>{};
  }
};

inline void PrintTo(const Configuration& configuration, std::ostream* out) { *out << configuration.Name(); }

/// Bit of a Highway target by name, 0 if unknown.
inline int64_t TargetBit(const std::string& name) {
  for (int bit = 0; bit < 63; ++bit) {
    if (name == hwy::TargetName(int64_t{1} << bit)) {
      return int64_t{1} << bit;
    }
  }
  return 0;
}

inline std::vector<Configuration> AllConfigurations() {
  std::vector<Configuration> all;
  // Three divide nothing evenly; two would take the same paths, and one does in one part.
  const std::vector<int> thread_counts = kThin ? std::vector{3} : std::vector{1, 3};
  for (const int threads : thread_counts) {
    for (const BackendRow& row : BackendTable()) {
      if (!row.available() || row.name == "cuda") {
        continue;
      }
      if (row.name != "cpu") {
        if (row.name != "serial" || threads == thread_counts.front()) {
          all.push_back({std::string(row.name), "auto", "", threads});
        }
        continue;
      }
      for (const std::string& target : CpuTargets()) {
        all.push_back({"cpu", "own", target, threads});
      }
    }
  }
  if (!CudaUnderTest().empty()) {
    for (const char* kernel : {"auto", "large", "medium", "small", "paper-2017", "paper-2016"}) {
      all.push_back({std::string(CudaUnderTest()), kernel, "", 1});
    }
  }
  return all;
}

/// Those of AllConfigurations() that `keep` says, and backend cpu with AMX: for the suites of what its tiles compute.
template <class Keep>
std::vector<Configuration> ConfigurationsWithAmx(const Keep& keep) {
  std::vector<Configuration> all = AllConfigurations();
  std::erase_if(all, [&](const Configuration& each) { return !keep(each); });
  for (const int threads : {1, 3}) {
    if (amx_emulated::Available()) {
      all.push_back({std::string(kEmulatedAmx), "own", "AVX3", threads});
    }
  }
  return all;
}

/// Own kernels of backend cpu: every instruction set and thread count.
inline std::vector<Configuration> OwnConfigurations() {
  std::vector<Configuration> own = AllConfigurations();
  std::erase_if(own, [](const Configuration& each) { return each.backend != "cpu" || each.kernel != "own"; });
  return own;
}

/// The backend of a configuration; its instruction set is forced while this lives.
class Chosen {
 public:
  explicit Chosen(const Configuration& configuration) {
    if (!configuration.target.empty()) {
      hwy::SetSupportedTargetsForTest(TargetBit(configuration.target));
    }
    backend_ = Make(configuration);
  }
  ~Chosen() { hwy::SetSupportedTargetsForTest(0); }
  Chosen(const Chosen&) = delete;
  Chosen& operator=(const Chosen&) = delete;

  static std::unique_ptr<Backend> Make(const Configuration& configuration) {
    const BackendOptions options{.threads = configuration.threads, .kernel = configuration.kernel};
    return configuration.backend == kEmulatedCuda  ? cuda_emulated::MakeBackend(options)
           : configuration.backend == kEmulatedAmx ? amx_emulated::MakeBackend(options)
                                                   : MakeBackend(configuration.backend, options);
  }

  const Chosen* operator->() const { return this; }
  std::string_view name() const { return backend_->name(); }
  Verdict Supports(const Problem& problem) const { return backend_->Supports(problem); }
  std::vector<Plan> Candidates(const Problem& problem) const { return backend_->Candidates(problem); }
  std::unique_ptr<StagedLayer> Prepare(const LayerPlanRequest& request) const {
    return std::make_unique<StagedLayer>(*backend_, request);
  }
  void ComputeLoss(const LossArgs& host) const {
    Staging staging(*backend_);
    LossArgs args = host;
    args.a = staging.In(host.a);
    args.z = staging.In(host.z);
    args.targets = staging.In(host.targets);
    args.sample_weights = staging.In(host.sample_weights, host.a.rows * DTypeSize_bytes(host.a.dtype));
    args.delta = staging.Out(host.delta);
    args.sums = static_cast<LossSums*>(staging.InOut(host.sums, sizeof(LossSums)));
    backend_->ComputeLoss(args);
    staging.Finish();
  }
  const Backend& get() const { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

/// A matrix inside a larger array. It starts one element after an aligned address, its rows are `pad` apart, and a
/// guard value fills everything around it.
template <class T>
class Guarded {
 public:
  Guarded(int64_t rows, int64_t cols, int64_t pad)
      : rows_(rows), cols_(cols), stride_(cols + pad), values_(static_cast<size_t>(rows * stride_ + 2), kGuard) {}
  Guarded(const Dense& from, int64_t pad) : Guarded(from.rows, from.cols, pad) {
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < cols_; ++j) {
        data()[i * stride_ + j] = static_cast<T>(from.at(i, j));
      }
    }
  }

  T* data() { return values_.data() + 1; }
  MatrixView view() { return {data(), rows_, cols_, stride_, DTypeOf<T>()}; }
  const std::vector<T>& bytes() const { return values_; }

  bool GuardsIntact() const {
    for (size_t i = 0; i < values_.size(); ++i) {
      const int64_t at = static_cast<int64_t>(i) - 1;
      const bool inside = at >= 0 && at < rows_ * stride_ && at % stride_ < cols_;
      if (!inside && values_[i] != kGuard) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr T kGuard = static_cast<T>(-12345);
  int64_t rows_, cols_, stride_;
  std::vector<T> values_;
};

/// Small integers: sums of their products are exact in any order and either type.
inline Dense Integers(int64_t rows, int64_t cols, uint32_t seed) {
  std::mt19937 random(seed);
  Dense m(rows, cols);
  for (double& value : m.values) {
    value = static_cast<double>(random() % 9) - 4;
  }
  return m;
}

/// Reals that both types hold exactly, in [-1, 1).
inline Dense Reals(int64_t rows, int64_t cols, uint32_t seed) {
  std::mt19937 random(seed);
  Dense m(rows, cols);
  for (double& value : m.values) {
    value = static_cast<double>(static_cast<float>(random() % 65536) / 32768.0F - 1.0F);
  }
  return m;
}

inline std::vector<Activation> ElementwiseActivations() {
  std::vector<Activation> all{"bipolar_sigmoid(gain=2,threshold=0.5)",
                              "leaky_relu(slope=0.25)",
                              "triangle(radius=12)",
                              "gaussian(radius=0.5)",
                              "elu(alpha=1.5)",
                              SoftsignActivation()};
  for (const std::string& name : ActivationNames()) {
    if (name != "softmax") {
      all.emplace_back(name);
    }
  }
  return all;
}

inline oracle::Curve CurveOf(const Activation& activation) {
  return {activation.name(), {activation.parameters().begin(), activation.parameters().end()}};
}

struct Shape {
  int64_t batch, outputs, inputs;
};

/// Shapes around the edges of vectors (4, 8, 16), tiles (6, 8, 12, 24, 48) and the switch between kernels. One of each
/// dimension is 1, 0 or prime somewhere.
inline std::vector<Shape> AwkwardShapes() {
  return {{0, 5, 7},    {1, 1, 1},    {1, 10, 17},  {1, 33, 16},  {2, 3, 5},    {3, 7, 31},
          {4, 2, 8},    {5, 24, 15},  {7, 25, 13},  {8, 8, 8},    {9, 49, 47},  {11, 23, 3},
          {12, 24, 1},  {13, 29, 33}, {15, 47, 9},  {16, 48, 49}, {17, 50, 97}, {23, 26, 2},
          {24, 96, 24}, {25, 31, 65}, {31, 1, 19},  {32, 10, 64}, {33, 97, 11}, {47, 30, 40},
          {48, 64, 48}, {49, 37, 95}, {64, 13, 20}, {65, 41, 50}, {97, 100, 6}, {101, 17, 113}};
}

/// Large enough for divided sums, blocks of rows, and threads; small enough for sanitizer builds.
inline std::vector<Shape> LargeShapes() {
  return {{19, 25, 2311}, {2100, 27, 12}, {20, 2200, 17}, {1100, 24, 60}, {67, 200, 220}, {3, 530, 300}};
}

inline std::vector<Shape> AwkwardAndLargeShapes() {
  std::vector<Shape> all = AwkwardShapes();
  for (const Shape& shape : LargeShapes()) {
    all.push_back(shape);
  }
  return all;
}

/// One in n of the given problems, other ones with each call. A suite that goes through several synapses and types
/// tries every problem with some of them, and all of them on some problems. The configuration decides the first. Slow
/// suites try a third of that.
class OneIn {
 public:
  OneIn(size_t n, const Configuration& configuration)
      : n_(kThin ? 3 * n : n), turn_(static_cast<size_t>(configuration.threads)) {}
  std::vector<Shape> Of(const std::vector<Shape>& all) {
    std::vector<Shape> some;
    for (size_t i = turn_++ % n_; i < all.size(); i += n_) {
      some.push_back(all[i]);
    }
    return some;
  }

 private:
  size_t n_, turn_;
};

}  // namespace lamina::conformance
