// The interface that every backend implements: memory, planned layers, and the few whole-batch operations
// that training needs beside them. Backpropagation is written once over these calls (nn/executor.h); a
// backend knows no epochs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/elementwise.h"
#include "lamina/backend/plan.h"
#include "lamina/base/error.h"
#include "lamina/base/matrix_view.h"
#include "lamina/neuron/loss.h"
#include "lamina/neuron/problem.h"
#include "lamina/neuron/update_rule.h"

namespace lamina {

/// Memory of a backend (host memory for the CPU ones).
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* data() const = 0;
  virtual int64_t size_bytes() const = 0;
};

/// Forward: a = activation(z), z = synapse(x, weights) + bias. Bias, a, z and distance are of the layer's OutputType().
struct ForwardArgs {
  ConstMatrixView x;           // batch × inputs
  ConstMatrixView weights;     // outputs × inputs
  const void* bias = nullptr;  // outputs, or null
  MatrixView a;                // batch × outputs; may be empty where `sums` is not
  MatrixView z;                // batch × outputs, written where not empty
  MatrixView distance;         // batch × outputs, z without the bias; written where not empty
  MatrixView sums;             // batch × outputs of SumType(), integer inputs only; written where not empty
};

/// Input gradient: out = ∂E/∂x, times the slope of the layer before where there is one (then it is that
/// layer's delta).
struct InputGradientArgs {
  ConstMatrixView delta;                 // batch × outputs, ∂E/∂z of this layer
  ConstMatrixView weights;               // outputs × inputs
  ConstMatrixView x;                     // batch × inputs: this layer's input, the activation of the layer before
  const Activation* previous = nullptr;  // activation of the layer before, null: no slope
  ConstMatrixView previous_z;            // batch × inputs, only where previous->slope_needs_input()
  MatrixView out;                        // batch × inputs
  ConstMatrixView distance;              // batch × outputs: of the forward pass, only where SynapseNeedsDistance()
};

/// Weight gradient: ∂E/∂w = synapse'(x, delta) and ∂E/∂bias = column sums of delta. With a rule the
/// parameters are updated as well (a backend may fuse the two; the gradient arrays are then scratch of
/// unspecified content).
struct WeightGradientArgs {
  ConstMatrixView x;                 // batch × inputs
  ConstMatrixView delta;             // batch × outputs
  ParameterArrays weights;           // distance synapses read the values, too
  ParameterArrays bias;              // all null for a layer without bias
  const UpdateRule* rule = nullptr;  // null: only compute the gradients
  ConstMatrixView distance;          // batch × outputs: of the forward pass, only where SynapseNeedsDistance()
};

/// A layer prepared on a backend for batches up to a size: kernels chosen, scratch allocated. The calls
/// allocate nothing. Not thread-safe: one layer object serves one caller at a time. Outputs must not overlap
/// inputs.
class PreparedLayer {
 public:
  static constexpr int64_t kNeuronsApart = 64;
  virtual ~PreparedLayer() = default;
  /// Batch and outputs may be smaller than what was prepared.
  virtual void Forward(const ForwardArgs& args) noexcept = 0;
  virtual void InputGradient(const InputGradientArgs& args) noexcept = 0;
  virtual void WeightGradient(const WeightGradientArgs& args) noexcept = 0;
  /// Whether WeightGradient() of a range of at least kNeuronsApart neurons, with their columns of delta, gives them the
  /// same bits as one of all neurons. For finite numbers.
  virtual bool NeuronsApart() const { return false; }
  /// What was chosen, for reports: "cpu: dot 8x48 tile, 2 threads".
  virtual std::string Describe() const = 0;
};

/// What a layer is prepared for.
struct LayerPlanRequest {
  LayerSpec layer;
  DType dtype = DType::kF32;
  int64_t max_batch = 0;
  bool training = false;  // gradients are needed
  Precision precision = Precision::kExact;
  /// Every result has the same bits however batch and outputs are cut into calls (some speed is lost on few rows).
  bool any_slicing = false;
  /// Integer types: the largest |x| and |w| there will be, from which the sums are known to fit. Negative: whatever
  /// the type holds.
  double largest_x = -1;
  double largest_w = -1;
};

/// Sums over the samples seen since they were last cleared. Kept in backend memory while training.
struct LossSums {
  double loss = 0;      // sum of sample weight × loss
  double weight = 0;    // sum of sample weights
  int64_t correct = 0;  // samples whose largest output (one output: the side of the class threshold) is the target's
  int64_t samples = 0;
};

/// Loss of a batch and the delta of the output layer.
struct LossArgs {
  Loss loss = Loss::kMse;
  const Activation* activation = nullptr;  // of the output layer
  ConstMatrixView a;                       // batch × outputs
  ConstMatrixView z;                       // only where activation->slope_needs_input()
  ConstMatrixView targets;                 // batch × outputs
  const void* sample_weights = nullptr;    // batch elements of a's type, or null for ones
  double class_threshold = 0.5;            // for a single output
  double label_smoothing = 0;              // Loss::Smooth(); correct answers are counted by the targets as they are
  MatrixView delta;                        // ∂E/∂z with E = sum / batch rows; left alone where empty
  LossSums* sums = nullptr;                // backend memory, added to
};

/// The gradient of a network, all parameters in one array.
struct ClipArgs {
  static constexpr int kParts = 256;
  void* gradient = nullptr;
  int64_t count = 0;
  DType dtype = DType::kF32;
  double norm = 0;          // the largest that it may have
  double* parts = nullptr;  // kParts numbers of backend memory, scratch
};

/// Parameters that follow gradients that are there.
struct UpdateArgs {
  ParameterArrays arrays;
  int64_t count = 0;
  DType dtype = DType::kF32;
  const UpdateRule* rule = nullptr;
  bool decay = false;                                          // of weights, not of biases and radii
  double smallest = -std::numeric_limits<double>::infinity();  // no parameter goes below
};

struct BackendOptions {
  int threads = 0;  // 0: all the cores this process may use
  /// What backend cpu computes with: "auto", or "own" for layers one by one.
  std::string kernel = "auto";
  /// Which of a backend's devices; numbers beyond the last device start over at the first.
  int device = 0;
  /// Asked for every pass of a layer that is prepared; null: the backend's estimates.
  std::shared_ptr<const PlanSource> plans;
};

struct NetworkPlanRequest;
class PreparedNetwork;
class RecordedSteps;
class CopyStreams;
class ArrayMath;
class DeviceExchange;
struct RankMeeting;

/// One device with one way of computing. Thread-compatible: no hidden global state.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;
  /// One line for people: "cpu: AVX-512 (AVX3), 2 threads".
  virtual std::string Describe() const = 0;
  virtual int threads() const = 0;
  /// Where Allocate() takes memory. Host matrices can be passed to the calls of a kHost backend as they are.
  virtual Space space() const = 0;
  /// Whether this backend can do the problem; the reason why not otherwise.
  virtual Verdict Supports(const Problem& problem) const = 0;

  /// Whether the answers of a model's boosted trees are looked up on threads() of this processor (nn/conjunctions.h).
  /// Other backends compute them as they compute every network.
  virtual bool AnswersTrees() const { return false; }

  /// Plans worth measuring for a problem, by a rough model the most promising first. Empty: nothing to choose.
  virtual std::vector<Plan> Candidates(const Problem&) const { return {}; }

  /// Free memory of a device; 0: the host's memory counts.
  virtual int64_t FreeMemory_bytes() const { return 0; }
  virtual std::unique_ptr<Buffer> Allocate(int64_t size_bytes) const = 0;  // zeroed
  virtual void Upload(void* to, const void* host, int64_t size_bytes) const = 0;
  virtual void Download(void* host, const void* from, int64_t size_bytes) const = 0;
  /// Waits for all work asked for. Throws Error where some of it failed.
  virtual void Synchronize() const {}
  /// Waits for what other libraries of this process asked the same device to do, before memory of theirs is read or
  /// written.
  virtual void AwaitOthers() const {}
  /// Copies beside the work (copy_streams.h); null for backends in host memory. The backend must outlive it.
  virtual std::unique_ptr<CopyStreams> MakeCopyStreams() const;
  /// Sums of arrays in this backend's memory (array_math.h).
  virtual std::unique_ptr<ArrayMath> MakeArrayMath() const;
  /// Exchanges between the devices of ranks (device_exchange.h), which all call this. Null where there is none: `why`
  /// then holds the reason, the same on all ranks. The backend must outlive it.
  virtual std::unique_ptr<DeviceExchange> JoinRanks(const RankMeeting& meeting, Verdict* why) const;

  /// Throws Error(kUnsupported) with the Verdict's reason where Supports() says no.
  virtual std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const = 0;

  /// Training steps of a whole network as one call (training_steps.h). Null where this backend has no way faster than
  /// layer by layer; `why` then holds the reason.
  virtual std::unique_ptr<PreparedNetwork> PrepareNetwork(const NetworkPlanRequest& request, Verdict* why) const;

  /// Training steps layer by layer, recorded once and run many times (training_steps.h). Null where a call of this
  /// backend costs too little to be worth it.
  virtual std::unique_ptr<RecordedSteps> MakeRecordedSteps() const;

  /// to[i] = from[rows[i]] for i < count. `rows` and both matrices in backend memory.
  virtual void GatherRows(ConstMatrixView from, const int64_t* rows, int64_t count, MatrixView to) const noexcept = 0;
  virtual void ComputeLoss(const LossArgs& args) const noexcept = 0;
  /// Multiplies the gradient by norm / (its L2 norm) where that is below 1; one that is not finite stays. The same bits
  /// on any number of threads.
  virtual void ClipGradient(const ClipArgs& args) const noexcept = 0;
  virtual void Update(const UpdateArgs& args) const noexcept = 0;

  /// What the stages of a network need beside layers.
  virtual const Elementwise& elementwise() const = 0;
};

}  // namespace lamina
