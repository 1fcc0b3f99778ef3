// Distilling: one network of recipe tabular that learns what a model answers, an ensemble above all, so that it answers
// in one network's time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/model/model.h"
#include "lamina/train/train_callbacks.h"

namespace lamina {

struct DistillOptions {
  std::vector<int64_t> hidden;     // empty: those of the recipe
  std::optional<int64_t> epochs;   // empty: by the rows
  std::optional<int64_t> made_up;  // rows beside those given; empty: MadeUpRowsFor()
  uint64_t seed = 1;
  std::string backend = "auto";
  int threads = 0;  // 0: all
};

/// What came out of Distill().
struct Distilled {
  Model model;
  int64_t rows = 0;     // of the table that were learnt
  int64_t made_up = 0;  // rows beside them
  int64_t epochs = 0;
  double seconds = 0;
  /// Measured on rows made up to check it, which neither taught it nor chose its epoch; of pictures on the rows given.
  /// Classes: the share to which it gives its teacher's class. Numbers: the R² of its answers to its teacher's, the
  /// mean over the targets.
  double agreement = 0;
  int64_t checked = 0;          // how many rows those are
  bool checks_learned = false;  // they are those that it learned
  bool interrupted = false;     // the model is as it was when it was stopped
};

/// Four a row, fewer of large tables, none beside images.
int64_t MadeUpRowsFor(int64_t rows, const InputEncoder& inputs);

/// Learns what `teacher` says to `rows` of `table`, which has its derived columns (Preprocessor::Prepare()) and needs
/// no target, and to rows made up near them. `callbacks.progress` and the like are of the network's training. Throws
/// Error.
Distilled Distill(const Model& teacher, const Table& table, std::span<const int64_t> rows,
                  const DistillOptions& options, const TrainCallbacks& callbacks = {});

nlohmann::json ToJson(const Distilled& distilled);

}  // namespace lamina
