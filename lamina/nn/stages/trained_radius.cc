// Calls of the backend's radius operations.
#include "lamina/nn/stages/trained_radius.h"

namespace lamina {

TrainedRadiusStage::TrainedRadiusStage(StageMemory& memory, Stage& below, const LayerSpec& spec, int64_t radii,
                                       int64_t rows, bool training, bool frozen)
    : Stage(memory),
      below_(below),
      activation_(spec.activation.WithRadius(1)),
      outputs_(spec.outputs),
      radii_(radii),
      smallest_(SmallestRadius(spec)),
      a_(memory.AllocateRows(rows, spec.outputs)),
      u_(training ? memory.AllocateRows(rows, spec.outputs) : nullptr),
      unused_(frozen ? memory.AllocateRows(1, spec.outputs) : nullptr) {}

ConstMatrixView TrainedRadiusStage::Forward(ConstMatrixView x, const int64_t* step) noexcept {
  memory_.elementwise.RadiusForward({x, memory_.At(memory_.ParametersFor(step != nullptr), radii_), &activation_,
                                     memory_.View(u_, x.rows, outputs_), memory_.View(a_, x.rows, outputs_)});
  return Output(x.rows);
}

void TrainedRadiusStage::Backward(const StageBackwardArgs& args) noexcept {
  ParameterArrays radii = memory_.ArraysAt(radii_);
  if (!Trains()) {
    radii.gradient = unused_->data();
  }
  memory_.elementwise.RadiusBackward(
      {memory_.View(u_, args.x.rows, outputs_), Delta(args.x.rows), radii, Trains() ? args.rule : nullptr, smallest_});
}

void TrainedRadiusStage::KeepRows(int64_t rows) {
  memory_.Grow(a_, rows, outputs_);
  memory_.Grow(u_, rows, outputs_);
}

}  // namespace lamina
