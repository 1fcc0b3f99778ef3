// Executor: a network planned on a backend. Forward and backpropagation are written once here, over its stages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/nn/gradient_parts.h"
#include "lamina/nn/network.h"
#include "lamina/nn/parameter_table.h"
#include "lamina/nn/routes.h"
#include "lamina/nn/step_options.h"

namespace lamina {

class DenseStage;     // nn/stages/dense.h
class MemberAnswers;  // nn/stages/members.h
class Stage;          // nn/stage.h
struct StageMemory;
class TeamChoice;      // base/team_choice.h
struct TrainingSteps;  // backend/training_steps.h

struct ExecutorOptions {
  int64_t max_batch = 1;
  bool training = false;
  StepOptions step;     // its loss is Evaluate()'s, too
  int state_count = 0;  // optimizer state arrays, UpdateRule::StateCount()
  /// The first layer's Wx is given: `x` is batch × its outputs, its weights are neither read nor trained, and after a
  /// step FirstDelta() says what they are trained by. For Step() without members or front scale, in host memory.
  bool first_sums_given = false;
  int64_t step_batch = 0;  // samples of a step of Steps() at most; 0: max_batch
  /// Forward() of a row gives the same bits in every batch, on any number of threads (LayerPlanRequest::any_slicing).
  bool any_slicing = false;
};

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
  MatrixView FirstDelta(int64_t rows) const;
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

  /// What a network that answers like this one holds: network.parameter_bytes(), front scale and normalization folded
  /// in.
  AlignedBuffer FoldedParameters() const;
  /// Everything that is trained, and takes it back, as it is: TrainedSize_bytes().
  AlignedBuffer TrainedParameters() const;
  void SetTrainedParameters(const AlignedBuffer& trained);

  /// Flat arrays in backend memory by the ParameterTable: they begin like Network::parameters().
  Buffer& parameters();
  Buffer& gradients();
  Buffer& state(int i);
  const Buffer& parameters() const;
  const Buffer& state(int i) const;
  int state_count() const { return options_.training ? options_.state_count : 0; }

  int64_t max_batch() const { return options_.max_batch; }
  /// What was planned: a line a layer, and one for whole training steps where there are such.
  std::vector<std::string> Describe() const;

 private:
  int64_t RowsOf(ConstMatrixView x) const { return x.rows * members_; }
  /// What stage `s` was given in a step; `x`: what the first one was given.
  ConstMatrixView InputOf(size_t s, ConstMatrixView x) const;
  ConstMatrixView Through(ConstMatrixView x, const int64_t* step) noexcept;
  void Backward(ConstMatrixView x, const UpdateRule* rule) noexcept;
  void FoldAnswers() const noexcept;
  void ParametersChanged() noexcept;
  LossArgs LossArgsFor(ConstMatrixView answers, ConstMatrixView targets, const void* sample_weights,
                       LossSums* sums) const;
  void PrepareSteps();
  void PrepareWholeSteps();
  void StepRows(const TrainingSteps& work, const UpdateRule* rule, int64_t begin, int64_t rows) noexcept;

  std::vector<LayerSpec> specs_;
  std::vector<LayerOffsets> offsets_;
  int64_t members_;  // rows of a batch are computed that often, those of one member together
  const Backend& backend_;
  ExecutorOptions options_;
  Techniques techniques_;  // of training steps
  ParameterTable table_;
  std::unique_ptr<StageMemory> memory_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<DenseStage*> of_layers_;
  std::unique_ptr<MemberAnswers> answers_;  // null: one member
  size_t first_trained_ = 0;                // stages below it have nothing to train
  bool updates_apart_;                      // gradients come first, parameters after, one array after the other
  bool deltas_only_ = false;                // a step ends without gradients of parameters
  mutable bool folded_follows_ = false;     // memory_->folded is that of the parameters as they are
  std::unique_ptr<Buffer> clip_parts_;      // where gradients are clipped
  std::unique_ptr<Buffer> input_;
  std::unique_ptr<Buffer> target_;
  std::unique_ptr<Buffer> sample_weights_;
  std::unique_ptr<PreparedNetwork> network_;  // of whole steps; null: layer by layer
  std::unique_ptr<RecordedSteps> recorded_;   // null: every step is asked for
  Verdict whole_steps_;
  std::unique_ptr<TeamChoice> team_choice_;  // of steps layer by layer
};

}  // namespace lamina
