// Training as it runs: a bar on a terminal, and lines of epochs.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/base/timing.h"
#include "lamina/train/trainer.h"

namespace lamina::cli {

class ProgressPrinter {
 public:
  /// `terminal`: standard output is one.
  ProgressPrinter(int64_t epochs, bool terminal) : epochs_(epochs), terminal_(terminal) {}

  void Update(const TrainProgress& progress);
  /// A line; of many epochs the first ones, one a second, and by Finish() the last.
  void EpochDone(const EpochRecord& record);
  void Finish();
  /// Clears the bar; call before printing anything else.
  void Clear();

 private:
  int64_t epochs_;
  bool terminal_;
  bool bar_shown_ = false;
  std::string pending_;  // the line of the last epoch, where it was not printed
  Stopwatch since_line_;
};

/// "BEFORE [####....] AFTER" in place of the terminal's last line, cut to its width; ClearBar() erases it.
void PrintBar(const std::string& before, double share, const std::string& after);
void ClearBar();

}  // namespace lamina::cli
