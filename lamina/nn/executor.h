// Executor: a network planned on a backend. Forward and backpropagation are written once here, over layer operations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/nn/gradient_parts.h"
#include "lamina/nn/network.h"
#include "lamina/nn/routes.h"
#include "lamina/nn/step_options.h"

namespace lamina {

class TeamChoice;      // base/team_choice.h
struct TrainingSteps;  // backend/training_steps.h

struct ExecutorOptions {
  int64_t max_batch = 1;
  bool training = false;
  StepOptions step;     // its loss is Evaluate()'s, too
  int state_count = 0;  // optimiser state arrays, UpdateRule::StateCount()
  /// The first layer's Wx is given: `x` is batch × its outputs, its weights are neither read nor trained, and after a
  /// step FirstDelta() says what they are trained by. For Step() without members or front scale, in host memory.
  bool first_sums_given = false;
  int64_t step_batch = 0;  // samples of a step of Steps() at most; 0: max_batch
  /// Forward() of a row gives the same bits in every batch, on any number of threads (LayerPlanRequest::any_slicing).
  bool any_slicing = false;
};

/// The bytes of the flat arrays of an executor: those of the network, of its front scale where `front_scale` and there
/// are no members, and of what the layers that are `normalized` have beside weights and bias.
int64_t FlatSize_bytes(const Network& network, bool front_scale, int64_t embedding_layers = 0,
                       const std::vector<bool>& normalized = {});

/// Holds parameters, activations and deltas in backend memory; after construction the calls allocate nothing.
/// One caller at a time. `backend` must outlive it.
class Executor {
 public:
  /// Throws Error(kUnsupported) with a reason where the backend or the loss cannot serve the network.
  Executor(const Network& network, const Backend& backend, const ExecutorOptions& options);
  ~Executor();

  /// Copies parameters from and to a network of the same layers.
  void LoadParameters(const Network& network);
  void StoreParameters(Network& network) const;

  /// The batch in backend memory that the steps below read: rows × inputs and rows × outputs.
  MatrixView InputBatch(int64_t rows) const;
  MatrixView TargetBatch(int64_t rows) const;

  /// Outputs (rows × outputs, in backend memory) for the first `rows` rows of `x` (backend memory).
  ConstMatrixView Forward(ConstMatrixView x) noexcept;
  /// Forward and loss of a batch, added to `sums` (backend memory).
  void Evaluate(ConstMatrixView x, ConstMatrixView targets, const void* sample_weights, LossSums* sums) noexcept;
  /// Forward, loss, backward (Algorithm 5 of the 2016 paper); updates by `rule`, or only computes Gradients() if null.
  void Step(ConstMatrixView x, ConstMatrixView targets, const void* sample_weights, const UpdateRule* rule,
            LossSums* sums) noexcept;
  /// Gradients() of `rows` samples of `work` from `begin` on, a mean over them; their loss goes to work.sums.
  void Gradient(const TrainingSteps& work, int64_t begin, int64_t rows) noexcept {
    StepRows(work, nullptr, begin, rows);
  }
  /// ∂E/∂z of the first layer for the samples of the last step, rows × its outputs.
  MatrixView FirstDelta(int64_t rows) const { return View(layers_.front().delta, rows, specs_.front().outputs); }
  /// Whether gradients can be computed part by part to the bits of Gradient(): by Deltas() and PartGradient(). No where
  /// a gradient is not of one layer's neurons alone, and where the backend does not promise the bits.
  Verdict ComputesByParts() const;
  /// The parts of what is trained, in the order that they are computed in: the last layer first.
  std::vector<GradientPart> Parts() const;
  /// Room for Deltas() of so many samples.
  void KeepRows(int64_t rows);
  /// The first half of Gradient(): what the second half reads is kept as rows [kept, kept + rows), until other samples
  /// come there. Returns the inputs.
  ConstMatrixView Deltas(const TrainingSteps& work, int64_t begin, int64_t rows, int64_t kept) noexcept;
  /// The second half, of one part: its weights' gradient, then its biases', to `gradient` (backend memory). `x`: the
  /// inputs that Deltas() returned for `kept`.
  void PartGradient(const GradientPart& part, ConstMatrixView x, int64_t kept, void* gradient) noexcept;
  /// Takes a step by what is in Gradients(), clipped where the options say so.
  void Update(const UpdateRule& rule) noexcept;
  /// Consecutive steps: as a whole where the backend has a way for this network, else gathered and computed one by one.
  /// Returns the steps done: all of them, or up to the first one whose loss is not finite or after which
  /// work.stop_requested() said true. Where the backend records steps, neither stops shuffled ones.
  int64_t Steps(const TrainingSteps& work);
  /// Why Steps() goes layer by layer; yes where it does not.
  const Verdict& whole_steps() const { return whole_steps_; }

  /// Runs host rows through the network in batches; `out` is rows × outputs on the host.
  void Predict(ConstMatrixView x, MatrixView out);

  /// What a network that answers like this one holds: network.parameter_bytes(), front scale and normalisation folded
  /// in.
  AlignedBuffer FoldedParameters() const;
  /// Everything that is trained, and takes it back, as it is: FlatSize_bytes().
  AlignedBuffer TrainedParameters() const;
  void SetTrainedParameters(const AlignedBuffer& trained);

  /// Flat arrays in backend memory, laid out like Network::parameters(), and behind that the front scale where there is
  /// one, then γ, running mean and variance of each normalised layer.
  Buffer& parameters() { return *parameters_; }
  const Buffer& parameters() const { return *parameters_; }
  Buffer& gradients() { return *gradients_; }
  Buffer& state(int i) { return *states_[static_cast<size_t>(i)]; }
  const Buffer& state(int i) const { return *states_[static_cast<size_t>(i)]; }
  int state_count() const { return static_cast<int>(states_.size()); }

  int64_t max_batch() const { return options_.max_batch; }
  /// What was planned: a line a layer, and one for whole training steps where there are such.
  std::vector<std::string> Describe() const;

 private:
  struct NormalizedState {
    std::unique_ptr<PreparedLayer> product;  // V x
    std::unique_ptr<Buffer> z;               // max_batch × outputs: normalised
    std::unique_ptr<Buffer> inverse;         // outputs: 1 / √(variance + ε)
    int64_t gamma = 0;                       // offsets in the flat arrays, in elements
    int64_t mean = 0;
    int64_t variance = 0;
  };
  struct LayerState {
    Activation activation;  // that of the spec; of radius 1 where radii are trained
    std::unique_ptr<PreparedLayer> prepared;
    std::unique_ptr<Buffer> a;         // max_batch (of each member) × outputs
    std::unique_ptr<Buffer> z;         // same, training only: where the slope reads it; u of trained radii
    std::unique_ptr<Buffer> distance;  // same, only where SynapseNeedsDistance
    std::unique_ptr<Buffer> delta;     // same, training only
    std::unique_ptr<Buffer> mask;      // same, where outputs are dropped: 0 or 1 / (1 - dropout)
    std::unique_ptr<Buffer> dropped;   // same, a times the mask
    // Null: not normalised.
    std::unique_ptr<NormalizedState> normalized;
  };

  /// Rows from kept_ on.
  MatrixView View(const std::unique_ptr<Buffer>& buffer, int64_t rows, int64_t cols) const;
  MatrixView PartOf(const std::unique_ptr<Buffer>& buffer, int64_t first, int64_t rows, int64_t cols) const;
  ParameterArrays ArraysAt(int64_t offset) const;
  void ForwardLayer(size_t l, ConstMatrixView x, const Buffer& flat) noexcept;
  bool IsNormalized(size_t l) const { return !normalized_.empty() && normalized_[l]; }
  void RequireNormalization() const;
  void PrepareNormalization(int64_t offset);
  void StartNormalization() noexcept;
  NormalizationArrays NormalizationOf(size_t l) const;
  void NormalizeInStep(size_t l, ConstMatrixView x, int64_t step) noexcept;
  void NormalizeBack(size_t l, MatrixView delta) noexcept;
  void UpdateNormalization(const UpdateRule& rule) noexcept;
  void FoldNormalizationInto(void* network) const noexcept;
  const Buffer& AnsweringParameters() noexcept;
  void PrepareDropout();
  bool Drops(size_t l) const { return layers_[l].mask != nullptr; }
  void Drop(size_t l, int64_t rows, int64_t step) noexcept;
  ConstMatrixView ForwardInStep(ConstMatrixView x, const int64_t* step) noexcept;
  ConstMatrixView InputOf(size_t l, ConstMatrixView x) const;
  bool IsFrozen(size_t layer) const { return !options_.step.frozen.empty() && options_.step.frozen[layer]; }
  void Backward(ConstMatrixView x, const UpdateRule* rule) noexcept;
  void BackwardLayer(size_t l, int64_t block, ConstMatrixView x, int64_t first, int64_t rows,
                     const UpdateRule* rule) noexcept;
  /// Whether gradients are computed first and parameters updated after, one array after the other.
  bool UpdatesApart() const { return updates_apart_; }
  bool HasFrontScale() const { return folded_ != nullptr; }
  bool HasMembers() const { return members_ > 1; }
  int64_t Blocks(size_t layer) const { return layer + 1 == layers_.size() ? members_ : 1; }
  void PrepareMembers();
  ConstMatrixView ExpandInputs(ConstMatrixView x) noexcept;
  ConstMatrixView MeanOfMembers(int64_t rows) noexcept;
  LossArgs MemberLossArgs(ConstMatrixView targets, const void* sample_weights) noexcept;
  void MemberScaleGradient(ConstMatrixView x) noexcept;
  void KeepZeros() noexcept;
  /// The layer that a front scale belongs to.
  size_t FrontLayer() const { return static_cast<size_t>(options_.step.embedding_layers); }
  bool IsFolded(size_t layer) const { return layer == FrontLayer() && HasFrontScale(); }
  MatrixView WeightsIn(const Buffer& buffer, size_t layer) const;
  MatrixView FoldedWeights() const;
  ConstMatrixView TrainedWeights(size_t layer) const;
  void FoldInto(void* network) const;
  void PrepareFrontScale();
  void Fold() noexcept;
  static double SmallestRadius(const LayerSpec& spec);
  LossArgs LossArgsFor(ConstMatrixView targets, const void* sample_weights, LossSums* sums) const;
  void PrepareSteps();
  void StepRows(const TrainingSteps& work, const UpdateRule* rule, int64_t begin, int64_t rows) noexcept;

  std::vector<LayerSpec> specs_;
  std::vector<LayerOffsets> offsets_;
  DType dtype_;
  int64_t network_bytes_;
  int64_t members_;        // rows of a batch are computed that often, those of one member together
  int64_t member_offset_;  // of their factors in the flat arrays, in elements
  const Backend& backend_;
  ExecutorOptions options_;
  std::vector<LayerRates> rates_;  // of every layer; empty: 1
  Techniques techniques_;          // of training steps
  bool updates_apart_;
  std::vector<LayerState> layers_;
  std::unique_ptr<Buffer> parameters_;
  std::unique_ptr<Buffer> gradients_;
  std::vector<std::unique_ptr<Buffer>> states_;
  std::unique_ptr<Buffer> folded_;      // the front layer's W diag(s), where there is a front scale
  int64_t front_offset_ = 0;            // of s in the flat arrays, in elements
  std::vector<bool> normalized_;        // of every layer; empty: none
  std::unique_ptr<Buffer> answers_;     // a network's parameters, normalisation folded in; null: none is
  bool answers_follow_ = false;         // they are those of the parameters as they are
  std::unique_ptr<Buffer> clip_parts_;  // where gradients are clipped
  // Where there are members: factors times inputs, their gradient, the mean answer, targets and sample weights of all.
  std::unique_ptr<Buffer> member_input_;
  std::unique_ptr<Buffer> member_input_delta_;
  std::unique_ptr<Buffer> mean_;
  std::unique_ptr<Buffer> member_targets_;
  std::unique_ptr<Buffer> member_weights_;
  LossSums member_sums_;
  std::unique_ptr<Buffer> unused_radii_;  // gradients of frozen radii, which nobody reads
  size_t first_trained_ = 0;              // layers below it are frozen
  int64_t kept_ = 0;                      // the row of all buffers of rows where those of a batch begin
  bool deltas_only_ = false;              // a step ends without gradients of parameters
  std::unique_ptr<Buffer> input_;
  std::unique_ptr<Buffer> target_;
  std::unique_ptr<Buffer> sample_weights_;
  std::unique_ptr<PreparedNetwork> network_;  // of whole steps; null: layer by layer
  std::unique_ptr<RecordedSteps> recorded_;   // null: every step is asked for
  Verdict whole_steps_;
  std::unique_ptr<TeamChoice> team_choice_;  // of steps layer by layer
};

}  // namespace lamina
