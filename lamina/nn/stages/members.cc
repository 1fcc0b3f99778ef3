// One member after the other.
#include "lamina/nn/stages/members.h"

namespace lamina {

MembersStage::MembersStage(StageMemory& memory, int64_t members, int64_t inputs, int64_t scales, int64_t max_batch,
                           bool training, bool frozen)
    : Stage(memory),
      members_(members),
      inputs_(inputs),
      scales_(scales),
      frozen_(frozen),
      inputs_of_all_(memory.AllocateRows(members * max_batch, inputs)),
      delta_(training ? memory.AllocateRows(members * max_batch, inputs) : nullptr) {}

ConstMatrixView MembersStage::Forward(ConstMatrixView x, const int64_t* step) noexcept {
  const Buffer& flat = memory_.ParametersFor(step != nullptr);
  for (int64_t member = 0; member < members_; ++member) {
    memory_.elementwise.ScaleColumns(x, memory_.At(flat, scales_ + member * inputs_),
                                     memory_.View(inputs_of_all_, x.rows, inputs_, member * x.rows));
  }
  return Output(members_ * x.rows);
}

void MembersStage::Backward(const StageBackwardArgs& args) noexcept {
  const int64_t rows = args.x.rows;
  for (int64_t member = 0; member < members_; ++member) {
    memory_.elementwise.ColumnProducts(args.x, memory_.View(delta_, rows, inputs_, member * rows),
                                       memory_.ArraysAt(scales_ + member * inputs_).gradient);
  }
}

void MembersStage::KeepRows(int64_t rows) {
  memory_.Grow(inputs_of_all_, members_ * rows, inputs_);
  memory_.Grow(delta_, members_ * rows, inputs_);
}

MemberAnswers::MemberAnswers(StageMemory& memory, int64_t members, int64_t outputs, int64_t max_batch, bool training)
    : memory_(memory), members_(members), mean_(memory.AllocateRows(max_batch, outputs)) {
  if (training) {
    targets_ = memory.AllocateRows(members * max_batch, outputs);
    weights_ = memory.AllocateRows(members * max_batch, 1);
    sums_ = memory.backend.Allocate(sizeof(LossSums));
  }
}

ConstMatrixView MemberAnswers::Mean(ConstMatrixView all) noexcept {
  const MatrixView mean = memory_.View(mean_, all.rows / members_, all.cols);
  memory_.elementwise.MeanOfBlocks(all, members_, mean);
  return mean;
}

LossArgs MemberAnswers::ForAll(const LossArgs& args) noexcept {
  const int64_t rows = args.targets.rows;
  LossArgs all = args;
  const MatrixView targets = memory_.View(targets_, members_ * rows, args.targets.cols);
  memory_.elementwise.Repeat(args.targets, members_, targets);
  all.targets = targets;
  if (args.sample_weights != nullptr) {
    memory_.elementwise.Repeat({args.sample_weights, rows, 1, 1, memory_.dtype, memory_.backend.space()}, members_,
                               memory_.View(weights_, members_ * rows, 1));
    all.sample_weights = weights_->data();
  }
  all.sums = static_cast<LossSums*>(sums_->data());
  return all;
}

}  // namespace lamina
