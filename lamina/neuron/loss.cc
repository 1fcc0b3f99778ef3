// Names of losses and their requirements.
#include "lamina/neuron/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "lamina/base/text.h"

namespace lamina {
namespace {

template <class Fn>
auto VisitKind(Loss::Kind kind, const Fn& fn) {
  return VisitFormula<formulas::Losses>(static_cast<size_t>(kind), fn);
}

// Answers of ascending levels are put in ascending order; a level that is not given ends them.
void RequireAscending(std::span<const double> levels, std::string_view text) {
  while (!levels.empty() && levels.back() == 0) {
    levels = levels.first(levels.size() - 1);
  }
  if (std::adjacent_find(levels.begin(), levels.end(), std::greater_equal<>()) != levels.end()) {
    throw Error(ErrorCode::kInvalidArgument, "the levels of quantiles must ascend", {.value = std::string(text)});
  }
}

}  // namespace

Loss::Loss(Kind kind)
    : kind_(kind), parameters_(VisitKind(kind, []<class L>(L formula) { return FormulaParameters::Of(formula); })) {}

Loss Loss::Parse(std::string_view text) {
  const size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const std::vector<std::string> names = LossNames();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      Loss loss(static_cast<Kind>(i));
      if (open != std::string_view::npos) {
        loss.parameters_.Parse(name, text.substr(open));
        if (loss.kind_ == kQuantile) {
          RequireAscending(loss.parameters_.values(), text);
        }
      }
      return loss;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown loss",
              {.value = std::string(name),
               .remedy = DidYouMean(name, names) + fmt::format("Known: {}.", fmt::join(names, ", "))});
}

Loss Loss::Quantiles(std::span<const double> levels) {
  Loss loss(kQuantile);
  std::string text;
  for (size_t i = 0; i < levels.size(); ++i) {
    text += fmt::format("{}q{}={}", i == 0 ? "(" : ",", i + 1, levels[i]);
  }
  return Parse(fmt::format("{}{}{}", loss.name(), text, levels.empty() ? "" : ")"));
}

std::vector<double> Loss::levels() const {
  if (kind_ != kQuantile) {
    return {};
  }
  const std::span<const double> all = parameters_.values();
  return {all.begin(), std::find(all.begin(), all.end(), 0.0)};
}

std::string_view Loss::name() const {
  return VisitKind(kind_, []<class L>(L) { return std::string_view(L::kName); });
}

bool Loss::by_output() const {
  return VisitKind(kind_, []<class L>(L) { return L::kByOutput; });
}

LossTargets Loss::targets() const {
  return VisitKind(kind_, []<class L>(L) { return L::kTargets; });
}

std::string_view Loss::output() const {
  return VisitKind(kind_, []<class L>(L) { return std::string_view(L::kOutput); });
}

Loss::Smoothed Loss::Smooth(double share, int64_t outputs) const {
  const double classes = targets() == LossTargets::kDistribution ? static_cast<double>(outputs) : 2.0;
  return {1 - share, share / classes};
}

std::vector<std::string> LossNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::tuple_size_v<formulas::Losses>; ++i) {
    names.emplace_back(VisitKind(static_cast<Loss::Kind>(i), []<class L>(L) { return std::string_view(L::kName); }));
  }
  return names;
}

Verdict LossSmooths(const Loss& loss) {
  return loss.of_classes() ? Verdict::Yes()
                           : Verdict::No(fmt::format(
                                 "{} takes numbers as targets; only those of classes can be smoothed", loss.name()));
}

Verdict LossAccepts(const Loss& loss, const Activation& output) {
  const bool own = output.kind() != Activation::kCustom && output.name() == loss.output();
  if (loss.output().empty() || own) {
    return Verdict::Yes();
  }
  return Verdict::No(fmt::format("{} needs a {} output layer, not {}", loss.name(), loss.output(), output.Text()));
}

}  // namespace lamina
