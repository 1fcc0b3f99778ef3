// Neurons of distances that train a radius each: u = distance / radius, a = activation(u). Behind a dense stage of
// identity activation, whose delta it takes in place.
#pragma once

#include "lamina/nn/stage.h"

namespace lamina {

class TrainedRadiusStage final : public Stage {
 public:
  /// `below`: gives the distances of `spec`. `radii`: their offset in the flat arrays. Rows of a batch at most.
  TrainedRadiusStage(StageMemory& memory, Stage& below, const LayerSpec& spec, int64_t radii, int64_t rows,
                     bool training, bool frozen);

  ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept override;
  ConstMatrixView Output(int64_t rows) const override { return memory_.View(a_, rows, outputs_); }
  StageSlope Slope(int64_t rows) const override {
    return {&activation_, memory_.View(u_, rows, outputs_), Output(rows)};
  }
  MatrixView Delta(int64_t rows) const override { return below_.Delta(rows); }
  void Backward(const StageBackwardArgs& args) noexcept override;
  bool Trains() const override { return unused_ == nullptr; }
  void KeepRows(int64_t rows) override;

 private:
  Stage& below_;
  Activation activation_;  // of radius 1
  int64_t outputs_;
  int64_t radii_;
  double smallest_;
  std::unique_ptr<Buffer> a_;
  std::unique_ptr<Buffer> u_;       // training only
  std::unique_ptr<Buffer> unused_;  // the gradient of frozen radii, which nobody reads
};

}  // namespace lamina
