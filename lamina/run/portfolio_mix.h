// The networks of the portfolio that answer together, and what a session hands over to it.
#pragma once

#include <optional>
#include <vector>

#include "lamina/run/left_out_answers.h"
#include "lamina/run/line_first.h"
#include "lamina/run/session.h"

namespace lamina {

/// The network that a session has trained, and what it says to the session's test rows. Throws Error(kUnsupported)
/// where several networks answer by the row.
TrainedFold FoldOf(const TrainSession& session);

class PortfolioMix {
 public:
  /// `share`: of the answer. `temperature`: of classes, whose networks then answer with probabilities; of others none.
  void Add(const TrainedFold& fold, std::optional<double> temperature, double share);

  struct Networks {
    std::vector<Network> networks;
    std::vector<double> shares;  // one a network, together 1
  };
  /// Lines that answer first are one network, the last. `added`: its answers are added to those of all others. It has
  /// half of the share, and all are twice as large.
  Networks Finish(const Network* added);

 private:
  Networks mix_;
  SumOfLines lines_;
};

}  // namespace lamina
