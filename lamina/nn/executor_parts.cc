// Gradients in two halves. First the samples of some calls go back through the layers. Then their gradient is computed
// for one part of the parameters after another.
#include "lamina/backend/training_steps.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/stages/dense.h"

namespace lamina {

Verdict Executor::ComputesByParts() const {
  if (backend_.space() != Space::kHost) {
    return Verdict::No("gradients are summed once a device has all of them");
  }
  if (const Verdict verdict = Accepts(Route::kParts, techniques_); !verdict) {
    return verdict;
  }
  for (const DenseStage* const layer : of_layers_) {
    if (layer->Trains() && !layer->NeuronsApart()) {
      return Verdict::No("the gradients of a layer are computed together: " + layer->Describe());
    }
  }
  return Verdict::Yes();
}

std::vector<GradientPart> Executor::Parts() const { return GradientPartsOf(specs_, offsets_, options_.step.frozen); }

void Executor::KeepRows(int64_t rows) {
  memory_->Grow(input_, rows, specs_.front().inputs);
  memory_->Grow(target_, rows, specs_.back().outputs);
  memory_->Grow(sample_weights_, rows, 1);
  for (const std::unique_ptr<Stage>& stage : stages_) {
    stage->KeepRows(rows);
  }
}

ConstMatrixView Executor::Deltas(const TrainingSteps& work, int64_t begin, int64_t rows, int64_t kept) noexcept {
  memory_->kept = kept;
  deltas_only_ = true;
  StepRows(work, nullptr, begin, rows);
  const ConstMatrixView x = work.order == nullptr ? work.x.Rows(begin, rows) : InputBatch(rows);
  deltas_only_ = false;
  memory_->kept = 0;
  return x;
}

// Networks that compute by parts have a stage a layer.
void Executor::PartGradient(const GradientPart& part, ConstMatrixView x, int64_t kept, void* gradient) noexcept {
  memory_->kept = kept;
  ParameterArrays weights = memory_->ArraysAt(part.weights);
  weights.gradient = gradient;
  ParameterArrays bias;
  if (part.bias_count > 0) {
    bias = memory_->ArraysAt(part.bias);
    bias.gradient = static_cast<char*>(gradient) + part.weight_count * DTypeSize_bytes(memory_->dtype);
  }
  of_layers_[part.layer]->GradientOfNeurons(InputOf(part.layer, x), part.begin, part.end, weights, bias);
  memory_->kept = 0;
}

}  // namespace lamina
