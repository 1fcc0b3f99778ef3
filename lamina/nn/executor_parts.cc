// Gradients in two halves: of the samples of some calls what goes back through the layers, then for one part of the
// parameters after another what these samples give it.
#include <algorithm>

#include "lamina/backend/training_steps.h"
#include "lamina/nn/executor.h"

namespace lamina {

Verdict Executor::ComputesByParts() const {
  if (backend_.space() != Space::kHost) {
    return Verdict::No("gradients are summed once a device has all of them");
  }
  if (const Verdict verdict = Accepts(Route::kParts, techniques_); !verdict) {
    return verdict;
  }
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (!IsFrozen(l) && !layers_[l].prepared->NeuronsApart()) {
      return Verdict::No("the gradients of a layer are computed together: " + layers_[l].prepared->Describe());
    }
  }
  return Verdict::Yes();
}

std::vector<GradientPart> Executor::Parts() const { return GradientPartsOf(specs_, offsets_, options_.step.frozen); }

void Executor::KeepRows(int64_t rows) {
  const auto grow = [&](std::unique_ptr<Buffer>& buffer, int64_t cols) {
    if (const int64_t bytes = rows * cols * DTypeSize_bytes(dtype_);
        buffer != nullptr && buffer->size_bytes() < bytes) {
      buffer = nullptr;  // not both at a time
      buffer = backend_.Allocate(bytes);
    }
  };
  grow(input_, specs_.front().inputs);
  grow(target_, specs_.back().outputs);
  grow(sample_weights_, 1);
  for (size_t l = 0; l < layers_.size(); ++l) {
    for (std::unique_ptr<Buffer>* buffer : {&layers_[l].a, &layers_[l].z, &layers_[l].distance, &layers_[l].delta}) {
      grow(*buffer, specs_[l].outputs);
    }
  }
}

ConstMatrixView Executor::Deltas(const TrainingSteps& work, int64_t begin, int64_t rows, int64_t kept) noexcept {
  kept_ = kept;
  deltas_only_ = true;
  StepRows(work, nullptr, begin, rows);
  const ConstMatrixView x = work.order == nullptr ? work.x.Rows(begin, rows) : InputBatch(rows);
  deltas_only_ = false;
  kept_ = 0;
  return x;
}

void Executor::PartGradient(const GradientPart& part, ConstMatrixView x, int64_t kept, void* gradient) noexcept {
  const auto neurons = [&](const std::unique_ptr<Buffer>& buffer) {
    MatrixView view = PartOf(buffer, 0, x.rows, specs_[part.layer].outputs);
    if (!view.empty()) {
      view.data = static_cast<char*>(view.data) + part.begin * DTypeSize_bytes(dtype_);
      view.cols = part.end - part.begin;
    }
    return view;
  };
  kept_ = kept;
  WeightGradientArgs args;
  args.x = InputOf(part.layer, x);
  args.delta = neurons(layers_[part.layer].delta);
  args.distance = neurons(layers_[part.layer].distance);
  args.weights = ArraysAt(part.weights);
  args.weights.gradient = gradient;
  if (part.bias_count > 0) {
    args.bias = ArraysAt(part.bias);
    args.bias.gradient = static_cast<char*>(gradient) + part.weight_count * DTypeSize_bytes(dtype_);
  }
  layers_[part.layer].prepared->WeightGradient(args);
  kept_ = 0;
}

}  // namespace lamina
