// The list, as data.
#include "lamina/run/portfolio.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "lamina/base/text.h"
#include "lamina/boost/trees.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

// Many rows make a machine so slow that one with a choice of kinds stands for all.
constexpr double kTimeOfKind = 0.12;
constexpr double kTimeOfChosen = 0.3;
constexpr int64_t kRowsOfChosen = 5001;

// The first must be a network, and a quick one: it is what is kept where time is over before it ends.
constexpr PortfolioEntry kPortfolio[] = {
    {"plain network", "recipe=plain"},
    {"plain network with dropout", "recipe=plain hidden=64,64 dropout=0.2"},
    {"l1 kernels", "method=rfm neuron=l1-laplace", /*refit=*/true, kTimeOfKind},
    {"boosted trees", "method=boost tree-leaves=8 tree-rate=0.05 tree-rounds=500", true},
    {"deep boosted trees", "method=boost tree-leaves=32 tree-rate=0.05 tree-rounds=500", true, 0,
     kLeastRowsOfDeepTrees},
    {"deepest boosted trees", "method=boost tree-leaves=64 tree-rounds=250", true, 0, kLeastRowsOfDeepestTrees},
    {"linear", "hidden=0 weight-decay=0.001"},
    {"recipe", ""},
    {"fast waves", "number-embedding=pbld wave-scale=6"},
    {"faster waves", "number-embedding=pbld wave-scale=16"},
    {"slow deepest trees", "method=boost tree-leaves=64 tree-rate=0.05 tree-rounds=500", true, 0,
     kLeastRowsOfDeepestTrees, 1},
    {"trees of more pairs", "method=boost tree-leaves=32 tree-rate=0.05 tree-rounds=500 tree-pairs=20", true, 0,
     kLeastRowsOfDeepTrees, 2},
    {"deepest trees of more pairs", "method=boost tree-leaves=64 tree-rate=0.05 tree-rounds=500 tree-pairs=20", true, 0,
     kLeastRowsOfDeepestTrees, 3},
    {"deepest trees without pairs", "method=boost tree-leaves=64 tree-rate=0.05 tree-rounds=500 tree-pairs=0", true, 0,
     kLeastRowsOfDeepestTrees, 4},
    {"kernels", "method=rfm", true, kTimeOfChosen, kRowsOfChosen},
    {"l1 kernels of even columns", "method=rfm feature-weights=none neuron=l1-laplace", true, kTimeOfKind},
    {"flat l2 kernels", "method=rfm neuron=l2-laplace(power=1.4)", true, kTimeOfKind},
    {"small network", "hidden=64,64 label-smoothing=0"},
    {"tanh network", "hidden=256,256 activation=tanh"},
    {"slow recipe", "learning-rate=0.015 dropout=0.05"},
    {"waves", "number-embedding=pbld wave-scale=1"},
    {"random neurons", "method=elm hidden=512 neuron=dot-tanh", true},
    {"recipe with dropout", "hidden=384,384 dropout=0.15"},
    {"deep network", "hidden=128,128,128,128 residual=yes"},
    {"l2 kernels", "method=rfm neuron=l2-laplace", true, kTimeOfKind},
    {"mixed-up rows", "mixup=0.2 activation=silu"},
    {"sharp l1 kernels", "method=rfm neuron=l1-laplace(power=0.7)", true, kTimeOfKind},
    {"embedded categories", "category-embedding=4 dropout=0.05"},
    {"wide layer", "hidden=1024 activation=relu dropout=0.2"},
};

// One model of many: its files and intervals would be those of the mix.
TrainSettings WithoutFiles(TrainSettings settings) {
  settings.intervals.reset();
  settings.model = settings.out_of_fold = settings.test = settings.state = "";
  return settings;
}

}  // namespace

std::span<const PortfolioEntry> Portfolio() { return kPortfolio; }

TrainSettings WithEntry(const TrainSettings& settings, const PortfolioEntry& entry) {
  TrainSettings with = settings;
  for (const std::string_view part : SplitText(entry.settings, ' ')) {
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      SetSetting(with, part.substr(0, equals), part.substr(equals + 1));
    }
  }
  return with;
}

int64_t RepeatsFor(const TrainSettings& settings, int64_t rows) {
  constexpr int64_t kFew = 300;
  constexpr int64_t kSome = 1000;
  if (settings.random_samples && settings.samples > 0) {  // the seed draws them
    return 1;
  }
  return rows <= kFew ? 3 : rows <= kSome ? 2 : 1;
}

TrainSettings AtPlace(const TrainSettings& settings, const PortfolioEntry& entry, int64_t place) {
  constexpr uint64_t kSeedsApart = 1'000'003;
  TrainSettings one = WithEntry(settings, entry);
  one.fold = place % settings.folds + 1;
  one.seed = settings.seed + kSeedsApart * static_cast<uint64_t>(place / settings.folds);
  one.threads = 1;
  return WithoutFiles(std::move(one));
}

TrainSettings OnAllRows(const TrainSettings& settings, const PortfolioEntry& entry) {
  TrainSettings all = WithEntry(settings, entry);
  all.folds = all.fold = 0;
  all.bag = false;
  all.split = {1, 0, 0};
  all.seed += entry.seeds_apart;
  return WithoutFiles(std::move(all));
}

nlohmann::json ToJson(std::span<const PortfolioPart> parts) {
  const auto number = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr); };
  nlohmann::json node = nlohmann::json::array();
  for (const PortfolioPart& part : parts) {
    node.push_back({{"name", part.name},
                    {"settings", part.settings},
                    {"loss", number(part.loss)},
                    {"mixed_loss", number(part.mixed)},
                    {"share", part.share},
                    {"seconds", part.seconds}});
    if (!std::isnan(part.temperature)) {
      node.back()["temperature"] = part.temperature;
    }
    if (!part.left_out.empty()) {
      node.back()["left_out"] = part.left_out;
    }
  }
  return node;
}

}  // namespace lamina
