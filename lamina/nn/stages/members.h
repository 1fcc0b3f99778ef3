// Networks of several members (TabM-mini of Gorishniy, Kotelnikov and Babenko 2025): a batch is computed once for each
// of them, the rows of one together.
#pragma once

#include "lamina/nn/stage.h"

namespace lamina {

/// Before the first layer: the inputs once for every member, times its factors.
class MembersStage final : public Stage {
 public:
  /// `scales`: offset of the factors. `max_batch`: rows of a batch before they are repeated.
  MembersStage(StageMemory& memory, int64_t members, int64_t inputs, int64_t scales, int64_t max_batch, bool training,
               bool frozen);

  ConstMatrixView Forward(ConstMatrixView x, const int64_t* step) noexcept override;
  ConstMatrixView Output(int64_t rows) const override { return memory_.View(inputs_of_all_, rows, inputs_); }
  StageSlope Slope(int64_t /*rows*/) const override { return {}; }
  MatrixView Delta(int64_t rows) const override { return memory_.View(delta_, rows, inputs_); }
  void Backward(const StageBackwardArgs& args) noexcept override;
  bool Trains() const override { return !frozen_; }
  void KeepRows(int64_t rows) override;

 private:
  int64_t members_;
  int64_t inputs_;
  int64_t scales_;
  bool frozen_;
  std::unique_ptr<Buffer> inputs_of_all_;
  std::unique_ptr<Buffer> delta_;  // training only
};

/// Behind the last layer: the mean of the members' answers, and their loss, which is that of all their rows.
class MemberAnswers {
 public:
  MemberAnswers(StageMemory& memory, int64_t members, int64_t outputs, int64_t max_batch, bool training);

  /// The mean of what the last layer gave, members × rows.
  ConstMatrixView Mean(ConstMatrixView all) noexcept;
  /// The targets and weights of a batch for every member. The sums of the args are scratch.
  LossArgs ForAll(const LossArgs& args) noexcept;

 private:
  StageMemory& memory_;
  int64_t members_;
  std::unique_ptr<Buffer> mean_;
  std::unique_ptr<Buffer> targets_;  // training only, as those below
  std::unique_ptr<Buffer> weights_;
  std::unique_ptr<Buffer> sums_;
};

}  // namespace lamina
