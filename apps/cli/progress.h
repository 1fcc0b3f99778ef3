// Training as it runs: a bar on a terminal, one plain line an epoch elsewhere.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/train/trainer.h"

namespace lamina::cli {

class ProgressPrinter {
 public:
  /// `terminal`: standard output is one.
  ProgressPrinter(int64_t epochs, bool terminal) : epochs_(epochs), terminal_(terminal) {}

  void Update(const TrainProgress& progress);
  void EpochDone(const EpochRecord& record);
  /// Clears the bar; call before printing anything else.
  void Clear();

 private:
  int64_t epochs_;
  bool terminal_;
  bool bar_shown_ = false;
};

/// "BEFORE [####....] AFTER" in place of the terminal's last line, cut to its width; ClearBar() erases it.
void PrintBar(const std::string& before, double share, const std::string& after);
void ClearBar();

}  // namespace lamina::cli
