// What a training run tells and asks while it lasts.
#pragma once

#include <functional>

#include "lamina/base/buffer.h"
#include "lamina/train/history.h"
#include "lamina/train/train_progress.h"
#include "lamina/train/train_state.h"

namespace lamina {

/// All optional; called from the training thread.
struct TrainCallbacks {
  std::function<void(const TrainProgress&)> progress;  // at most ten times a second
  std::function<void(const EpochRecord&)> epoch_done;
  std::function<bool()> stop_requested;  // asked after every step; true ends with "interrupted"; may wait: such time is
                                         // not counted (RunControl pauses a run so)
  std::function<bool()> abandon_requested;  // asked some times a second within steps that last longer than a tenth of
                                            // one and within validation: true ends the run with "interrupted" there;
                                            // what a step has done is thrown away. Not asked of ranks
  std::function<void(TrainState&&)> checkpoint;  // every checkpoint_epochs and when stopped
  std::function<void(TrainState&&)> ended;       // after the last epoch: Trainer::Resume() with it trains no more
  std::function<void(AlignedBuffer&&)> answers;  // before epoch_done: the network's parameters after that epoch
};

}  // namespace lamina
