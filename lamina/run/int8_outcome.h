// What training on in 8-bit integers brought.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lamina/model/evaluate.h"

namespace lamina {

struct Int8Outcome {
  int64_t epochs = 0;
  int64_t best_epoch = 0;  // the one that is kept; 0: the network as it was
  bool stopped = false;    // before its last epoch
  // In 8-bit integers, of the test rows (of the validation rows where there are none):
  std::string part;                  // "test", "validation", or "" for neither
  std::optional<Evaluation> before;  // scales measured, nothing trained
  std::optional<Evaluation> after;
};

}  // namespace lamina
