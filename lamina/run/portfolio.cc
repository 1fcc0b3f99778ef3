// The list, as data.
#include "lamina/run/portfolio.h"

#include "lamina/base/text.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

constexpr int64_t kRowsOfKernels = 6000;

// The first must be a network of recipe tabular: it is what is kept where time is over before it ends.
constexpr PortfolioEntry kPortfolio[] = {
    {"recipe", ""},
    {"kernels", "method=rfm", kRowsOfKernels, /*refit=*/true},
    {"waves", "number-embedding=pbld wave-scale=1"},
    {"small network", "hidden=64,64 label-smoothing=0"},
    {"l1 kernels of even columns", "method=rfm feature-weights=none neuron=l1-laplace", kRowsOfKernels, true},
    {"dropout", "hidden=384,384 dropout=0.15"},
    {"plain network", "recipe=plain scale=robust hidden=128"},
    {"l2 kernels", "method=rfm neuron=l2-laplace", kRowsOfKernels, true},
    {"fast waves", "number-embedding=pbld wave-scale=4 hidden=256,256"},
    {"linear", "hidden=0 weight-decay=0.001", 0},
    {"extreme learning machine", "method=elm hidden=512 neuron=dot-tanh", 0, true},
    {"mixed-up rows", "mixup=0.2 activation=silu"},
    {"gaussian kernels", "method=rfm neuron=l2-gaussian", kRowsOfKernels, true},
    {"embedded categories", "category-embedding=4 dropout=0.05"},
    {"deep network", "hidden=128,128,128,128 residual=yes"},
    {"slow recipe", "learning-rate=0.015 dropout=0.05"},
    {"tanh network", "hidden=256,256 activation=tanh"},
    {"radial neurons", "method=elm hidden=400 neuron=l1-laplace", 0, true},
    {"decayed recipe", "optimizer=adamw weight-decay=0.02 hidden=192,192,192"},
    {"wide layer", "hidden=1024 activation=relu dropout=0.2"},
};

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

}  // namespace lamina
