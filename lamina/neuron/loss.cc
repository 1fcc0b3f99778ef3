// Names of losses and their requirements.
#include "lamina/neuron/loss.h"

#include <tuple>

#include "lamina/base/text.h"

namespace lamina {

std::vector<std::string> LossNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::tuple_size_v<formulas::Losses>; ++i) {
    VisitFormula<formulas::Losses>(i, [&]<class L>(L) { names.emplace_back(L::kName); });
  }
  return names;
}

std::string_view LossName(Loss loss) {
  return VisitFormula<formulas::Losses>(static_cast<size_t>(loss),
                                        []<class L>(L) { return std::string_view(L::kName); });
}

Loss ParseLoss(std::string_view name) {
  const std::vector<std::string> names = LossNames();
  std::string known;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return static_cast<Loss>(i);
    }
    known += (i == 0 ? "" : ", ") + names[i];
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown loss",
              {.value = std::string(name), .remedy = DidYouMean(name, names) + "Known: " + known + "."});
}

Verdict LossAccepts(Loss loss, const Activation& output) {
  if (loss == Loss::kCrossEntropy && !output.is_softmax()) {
    return Verdict::No("cross_entropy needs a softmax output layer, not " + output.Text());
  }
  if (loss == Loss::kBinaryCrossEntropy && output.name() != formulas::Sigmoid::kName) {
    return Verdict::No("binary_cross_entropy needs a sigmoid output layer, not " + output.Text());
  }
  return Verdict::Yes();
}

}  // namespace lamina
