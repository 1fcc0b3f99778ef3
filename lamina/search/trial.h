// Trials and their order: what a search has learned so far.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/search/search_space.h"
#include "lamina/train/history.h"

namespace lamina {

enum class TrialState { kWaiting, kRunning, kPaused, kStopped, kDone, kFailed };  // kPaused: between two stages
std::string_view TrialStateName(TrialState state);
/// Throws Error(kInvalidArgument) with the names that there are.
TrialState ParseTrialState(std::string_view name);

struct Trial {
  int64_t number = 0;               // from 1, in the order of the grid or of the draws
  std::vector<std::string> values;  // as SearchSpace::parameters()
  int64_t epochs = 0;               // that it would train for
  int stage = 0;                    // stages finished
  TrialState state = TrialState::kWaiting;
  History history;
  std::string failure;  // kFailed: why

  double seconds() const;  // of training and validation
};

/// What counts of a trial: the weights that training would keep, the best or the last ones.
struct TrialScore {
  int64_t epoch = 0;  // 0: none yet
  double accuracy = 0;
  double loss = 0;
};
TrialScore ScoreOf(const Trial& trial, bool keeps_best);

/// Invalid combinations and training that fails belong to a trial; the rest (files, memory) ends the search.
bool IsOfTrial(const Error& error);

/// Indices of `trials`, best first: by stages finished, then accuracy (`by_accuracy`), loss, number. Those without a
/// result come behind, and failed ones last.
std::vector<size_t> RankTrials(std::span<const Trial> trials, bool by_accuracy, bool keeps_best);

/// How many of so many trials that finished a stage go on: one in `halving`, and `least` of them if there are so many.
int64_t GoingOn(int64_t finished, double halving, int64_t least);
/// Stops those that finished `stage` and are not among the best GoingOn(). Trial 1, the default, goes on. One that
/// ended early or failed stays as it is.
void StopHopeless(std::span<Trial> trials, int stage, double halving, int64_t least, bool by_accuracy, bool keeps_best);

/// One line a trial in the order of `ranking`: rank, trial, the varied settings, state, epochs, epoch, accuracy, loss,
/// seconds, failure.
std::string RankingCsv(std::span<const Trial> trials, std::span<const size_t> ranking, const SearchSpace& space,
                       bool keeps_best);
nlohmann::json RankingJson(std::span<const Trial> trials, std::span<const size_t> ranking, const SearchSpace& space,
                           bool keeps_best);

}  // namespace lamina
