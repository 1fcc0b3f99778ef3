// Networks in the order of their coming, lines apart.
#include "lamina/run/portfolio_mix.h"

#include <utility>

#include "lamina/base/error.h"
#include "lamina/model/evaluate.h"

namespace lamina {

TrainedFold FoldOf(const TrainSession& session) {
  Model model = session.model();
  TrainedFold fold;
  fold.line = TakeLine(model);
  if (!model.others.empty()) {
    throw Error(ErrorCode::kUnsupported, "its networks answer by the row");
  }
  fold.network = std::move(model.network);
  fold.outputs = NetworkOutputs(session.model(), session.backend(), session.test().features);
  fold.rows = session.test().rows;
  return fold;
}

void PortfolioMix::Add(const TrainedFold& fold, std::optional<double> temperature, double share) {
  const double of_line = fold.line ? kShareOfLine * share : 0;
  mix_.networks.push_back(temperature ? WithSoftmax(fold.network, *temperature) : fold.network);
  mix_.shares.push_back(share - of_line);
  if (fold.line) {
    lines_.Add(*fold.line, of_line);
  }
}

PortfolioMix::Networks PortfolioMix::Finish(const Network* added) {
  if (lines_.share() > 0) {
    mix_.networks.push_back(lines_.Mean());
    mix_.shares.push_back(lines_.share());
  }
  if (added != nullptr) {
    mix_.networks.push_back(*added);
    for (double& share : mix_.shares) {
      share /= 2;
    }
    mix_.shares.push_back(0.5);
    for (Network& network : mix_.networks) {
      ScaleAnswers(2, network);
    }
  }
  return std::move(mix_);
}

}  // namespace lamina
