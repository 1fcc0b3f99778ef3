// Ensembles: the mean answer of several networks of a search, as one model.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "lamina/model/calibrate.h"
#include "lamina/model/choose_ensemble.h"
#include "lamina/model/evaluate.h"
#include "lamina/search/search.h"

namespace lamina {

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
