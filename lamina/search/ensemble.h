// Ensembles: the mean answer of several networks of a search, as one model.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "lamina/model/calibrate.h"
#include "lamina/model/evaluate.h"
#include "lamina/search/search.h"

namespace lamina {

/// Which networks answer together.
struct EnsembleChoice {
  std::vector<int64_t> counts;  // how often each was chosen
  double loss = 0;              // of the mean answer
  double alone = 0;             // the least of one network
};

/// Ensemble selection (Caruana, Niculescu-Mizil, Crew and Ksikes 2004): again and again the network is added, one may
/// be more than once, whose addition leaves the least loss of the mean answer; the shortest row of them with the least
/// loss is kept. `answers`: of each network to the same rows (rows × outputs, one type); at most `most` different ones;
/// of equal losses that of lower index. A loss that is NaN is the worst.
EnsembleChoice ChooseEnsemble(std::span<const Matrix> answers, int64_t most,
                              const std::function<double(const Matrix&)>& loss_of);

struct EnsembleResult {
  struct Part {
    int64_t trial = 0;  // its number
    double share = 0;
  };
  Model model;
  std::vector<Part> parts;  // the largest share first
  double loss = 0;          // on the validation rows, and that of the best network alone
  double alone = 0;
  std::optional<Calibration> calibration;  // where the settings ask for it
  std::optional<Evaluation> test;          // on the test rows, if there are any
};

/// One model of up to settings().ensemble networks of the trials of `result`; judged and calibrated as TrainSession
/// does. Only networks on the same encoded rows as the best one can be added. Throws Error(kInvalidArgument) where no
/// trial left a network.
EnsembleResult MakeEnsemble(Search& search, const SearchResult& result);

nlohmann::json ToJson(const EnsembleResult& result);

}  // namespace lamina
