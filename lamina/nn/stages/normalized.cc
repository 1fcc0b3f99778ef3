// The product, then the columns of the batch.
#include "lamina/nn/stages/normalized.h"

#include <algorithm>

namespace lamina {

NormalizedStage::NormalizedStage(StageMemory& memory, const DenseLayer& layer, std::unique_ptr<PreparedLayer> answers,
                                 std::unique_ptr<PreparedLayer> product, const Offsets& offsets, bool starts_trained)
    : DenseStage(memory, layer, std::move(answers)),
      product_(std::move(product)),
      offsets_(offsets),
      starts_trained_(starts_trained),
      normalized_(memory.AllocateRows(layer.rows, layer.spec.outputs)),
      inverse_(memory.AllocateRows(1, layer.spec.outputs)) {}

NormalizationArrays NormalizedStage::Arrays() const {
  const auto at = [&](int64_t offset) { return memory_.At(*memory_.parameters, offset); };
  return {at(offsets_.gamma), at(layer().offsets.bias), at(offsets_.mean), at(offsets_.variance)};
}

// The first steps' statistics weigh alike, then a new batch has kShare of them, as PyTorch's.
ConstMatrixView NormalizedStage::Forward(ConstMatrixView x, const int64_t* step) noexcept {
  if (step == nullptr) {
    return DenseStage::Forward(x, step);
  }
  constexpr double kShare = 0.1;
  const int64_t outputs = spec().outputs;
  ForwardArgs product;
  product.x = x;
  product.weights = WeightsFor(/*step=*/true, 0);
  product.a = memory_.View(normalized_, x.rows, outputs);
  product_->Forward(product);
  NormalizeForwardArgs args;
  args.z = product.a;
  args.arrays = Arrays();
  args.share = *step == 0 ? 0 : std::max(kShare, 1 / static_cast<double>(*step));
  args.keeps_answers = starts_trained_ && static_cast<double>(*step) * kShare <= 1;
  args.activation = &spec().activation;
  args.inverse = inverse_->data();
  args.y = memory_.View(z(), x.rows, outputs);
  args.a = memory_.View(a(), x.rows, outputs);
  memory_.elementwise.NormalizeForward(args);
  return Output(x.rows);
}

void NormalizedStage::Backward(const StageBackwardArgs& args) noexcept {
  const ParameterArrays gamma = memory_.ArraysAt(offsets_.gamma);
  const MatrixView delta = Delta(args.x.rows);
  memory_.elementwise.NormalizeBackward({memory_.View(normalized_, delta.rows, delta.cols), gamma.value,
                                         inverse_->data(), delta, gamma.gradient,
                                         memory_.ArraysAt(layer().offsets.bias).gradient});
  BackwardBlock(args, 0, *product_, /*has_bias=*/false);
}

void NormalizedStage::FoldAnswers() const noexcept {
  DenseStage::FoldAnswers();
  memory_.elementwise.FoldNormalization(
      Arrays(), memory_.MatrixAt(*memory_.folded, layer().offsets.weights, spec().outputs, spec().inputs),
      memory_.At(*memory_.folded, layer().offsets.bias));
}

}  // namespace lamina
