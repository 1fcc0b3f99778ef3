// Ensemble selection: which models answer together, by their answers to rows that they have not learned from.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"

namespace lamina {

/// Which networks answer together.
struct EnsembleChoice {
  std::vector<int64_t> counts;  // how often each was chosen
  double loss = 0;              // of the mean answer
  double alone = 0;             // the least of one network
};

/// Ensemble selection (Caruana, Niculescu-Mizil, Crew and Ksikes 2004). `rounds` times it adds the network that leaves
/// the least loss of the mean answer; one may be added more than once. It keeps the shortest prefix with the least
/// loss. `answers`: each network's, to the same rows (rows × outputs, one type). At most `most` different networks are
/// taken; of equal losses the lower index. A loss that is NaN is the worst.
EnsembleChoice ChooseEnsemble(std::span<const Matrix> answers, int64_t most,
                              const std::function<double(const Matrix&)>& loss_of, int rounds = 50);

}  // namespace lamina
