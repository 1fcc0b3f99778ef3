// The three passes of a layer, block by block.
#include "lamina/nn/stages/dense.h"

namespace lamina {

DenseStage::DenseStage(StageMemory& memory, const DenseLayer& layer, std::unique_ptr<PreparedLayer> prepared)
    : Stage(memory), layer_(layer), prepared_(std::move(prepared)) {
  const auto rows_of = [&] { return memory.AllocateRows(layer.rows, layer.spec.outputs); };
  a_ = rows_of();
  if (layer.training) {
    delta_ = rows_of();
    z_ = layer.spec.activation.slope_needs_input() ? rows_of() : nullptr;
    distance_ = SynapseNeedsDistance(layer.spec.synapse) ? rows_of() : nullptr;
  }
}

ConstMatrixView DenseStage::WeightsFor(bool step, int64_t block) const {
  if (step && front_scale_) {
    return front_scale_->weights();
  }
  const LayerSpec& spec = layer_.spec;
  return memory_.MatrixAt(memory_.ParametersFor(step), layer_.offsets.weights + block * spec.weight_count(),
                          spec.outputs, spec.inputs);
}

void DenseStage::AskForSlopes(DenseStage& below) {
  KeepsSlopes* const finds = below.SlopesOf();
  if (SlopesOf() != nullptr && finds != nullptr && finds->FindsSlopes()) {
    below.slopes_of_ = finds;
  }
}

ConstMatrixView DenseStage::Forward(ConstMatrixView x, const int64_t* step) noexcept {
  const LayerSpec& spec = layer_.spec;
  const int64_t rows = x.rows / layer_.blocks;
  for (int64_t block = 0; block < layer_.blocks; ++block) {
    const int64_t first = block * rows;
    ForwardArgs args;
    args.x = x.Rows(first, rows);
    args.weights = WeightsFor(step != nullptr, block);
    args.bias = spec.bias
                    ? memory_.At(memory_.ParametersFor(step != nullptr), layer_.offsets.bias + block * spec.outputs)
                    : nullptr;
    args.a = memory_.View(a_, rows, spec.outputs, first);
    const MatrixView kept = memory_.View(z_, rows, spec.outputs, first);
    args.distance = memory_.View(distance_, rows, spec.outputs, first);
    if (step == nullptr) {  // nobody asks for slopes
      prepared_->Forward(args);
    } else if (slopes_of_ != nullptr) {
      slopes_of_->ForwardKeeping(args, kept);
    } else {
      args.z = kept;
      prepared_->Forward(args);
    }
  }
  return Output(x.rows);
}

StageSlope DenseStage::Slope(int64_t rows) const {
  const MatrixView kept = memory_.View(z_, rows, layer_.spec.outputs);
  return slopes_of_ != nullptr ? StageSlope{nullptr, {}, Output(rows), kept}
                               : StageSlope{&layer_.spec.activation, kept, Output(rows)};
}

void DenseStage::Backward(const StageBackwardArgs& args) noexcept {
  for (int64_t block = 0; block < layer_.blocks; ++block) {
    BackwardBlock(args, block, *prepared_, layer_.spec.bias);
  }
}

// Weights are updated only after the input gradient, which reads them, is done.
void DenseStage::BackwardBlock(const StageBackwardArgs& args, int64_t block, PreparedLayer& prepared,
                               bool has_bias) noexcept {
  const LayerSpec& spec = layer_.spec;
  const int64_t rows = args.x.rows / layer_.blocks;
  const int64_t first = block * rows;
  const MatrixView delta = memory_.View(delta_, rows, spec.outputs, first);
  const ConstMatrixView distance = memory_.View(distance_, rows, spec.outputs, first);
  const ConstMatrixView x = args.x.Rows(first, rows);
  if (args.below != nullptr) {
    const StageSlope slope = args.below->Slope(args.x.rows);
    InputGradientArgs input;
    input.delta = delta;
    input.weights = WeightsFor(/*step=*/true, block);
    input.x = slope.activation == nullptr ? x : slope.a.Rows(first, rows);
    input.previous = slope.activation;
    input.previous_z = slope.z.empty() ? slope.z : slope.z.Rows(first, rows);
    input.out = args.below->Delta(args.x.rows).Rows(first, rows);
    input.distance = distance;
    if (slope.slopes.empty()) {
      prepared.InputGradient(input);
    } else {
      SlopesOf()->InputGradientTimes(input, slope.slopes.Rows(first, rows));
    }
  }
  if (layer_.frozen || args.deltas_only) {
    return;
  }
  WeightGradientArgs gradient;
  gradient.x = x;
  gradient.delta = delta;
  gradient.weights = memory_.ArraysAt(layer_.offsets.weights + block * spec.weight_count());
  gradient.bias = has_bias ? memory_.ArraysAt(layer_.offsets.bias + block * spec.outputs) : ParameterArrays{};
  gradient.rule = args.rule;
  gradient.distance = distance;
  prepared.WeightGradient(gradient);
  if (layer_.sparse) {
    memory_.elementwise.KeepZeros(
        memory_.MatrixAt(*memory_.parameters, layer_.offsets.weights, spec.outputs, spec.inputs),
        memory_.MatrixAt(*memory_.gradients, layer_.offsets.weights, spec.outputs, spec.inputs));
  }
}

void DenseStage::GradientOfNeurons(ConstMatrixView x, int64_t begin, int64_t end, const ParameterArrays& weights,
                                   const ParameterArrays& bias) noexcept {
  const auto neurons = [&](MatrixView view) {
    if (!view.empty()) {
      view.data = static_cast<char*>(view.data) + begin * DTypeSize_bytes(memory_.dtype);
      view.cols = end - begin;
    }
    return view;
  };
  WeightGradientArgs args;
  args.x = x;
  args.delta = neurons(Delta(x.rows));
  args.distance = neurons(memory_.View(distance_, x.rows, layer_.spec.outputs));
  args.weights = weights;
  args.bias = bias;
  prepared_->WeightGradient(args);
}

void DenseStage::FinishGradients() noexcept {
  if (front_scale_) {
    front_scale_->SplitGradient();
  }
}

void DenseStage::ParametersChanged() noexcept {
  if (front_scale_) {
    front_scale_->Fold();
  }
}

void DenseStage::FoldAnswers() const noexcept {
  if (front_scale_) {
    const LayerSpec& spec = layer_.spec;
    memory_.elementwise.Repeat(front_scale_->weights(), 1,
                               memory_.MatrixAt(*memory_.folded, layer_.offsets.weights, spec.outputs, spec.inputs));
  }
}

void DenseStage::KeepRows(int64_t rows) {
  for (std::unique_ptr<Buffer>* buffer : {&a_, &z_, &distance_, &delta_}) {
    memory_.Grow(*buffer, rows, layer_.spec.outputs);
  }
}

}  // namespace lamina
