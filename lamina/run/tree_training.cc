// The settings of boosted trees, and their place beside others.
#include "lamina/run/tree_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lamina/backend/host_backend.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/setting.h"
#include "lamina/base/text.h"
#include "lamina/boost/boosted_folds.h"
#include "lamina/boost/column_sums.h"
#include "lamina/boost/tree_network.h"
#include "lamina/model/evaluate.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/run/share_beside.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

constexpr int64_t kLeastRowsOfTrees = 100;  // that are left out
// If all rounds are done, which is seldom.
constexpr double kUsualOperations = 1.2e10;  // some two seconds of one thread
constexpr double kMostOperations = 4e10;     // that nobody has asked for

constexpr double kMustHave = 0.99;  // of the loss of trees that answer in less time

constexpr ShareRule kShareOfTrees = {0.25, 0, 0.95};

bool HasClasses(const Preprocessor& preprocessor) { return preprocessor.targets().task() == Task::kClassification; }

BoostOptions TreeOptions(const TrainSettings& settings, const Dataset& train, bool validates,
                         int64_t leaves = kTreeLeaves, std::vector<ColumnSum> sums = {}) {
  BoostOptions options;
  options.sums = std::move(sums);
  options.classes = !train.labels.empty();
  options.leaves = settings.tree_leaves.value_or(leaves);
  options.rounds = settings.tree_rounds;
  options.rate = settings.tree_rate;
  options.seed = settings.seed;
  const int64_t most_bins = options.classes ? kBinsForClasses : kBinsForNumbers;
  options.bins = std::clamp<int64_t>(train.size() / 16, 16, most_bins);  // which few rows do not fill
  const double all = BoostOperations(train, validates, options);
  const double least = std::sqrt(static_cast<double>(std::max<int64_t>(1, train.inputs())));
  options.columns =
      std::clamp(options.columns * kUsualOperations / all, std::min(1 / least, options.columns), options.columns);
  return options;
}

// What no trees can stand beside.
struct Refused {
  std::string_view name;
  bool (*given)(const TrainSettings&);
  std::string_view why;
};

constexpr std::string_view kByRowsLeftOut = "validation rows say how much trees count";
constexpr Refused kRefusedBeside[] = {
    {"calibrate", [](const TrainSettings& s) { return s.calibrate; }, kByRowsLeftOut},
    {"intervals", [](const TrainSettings& s) { return s.intervals.has_value(); }, kByRowsLeftOut},
    {"quantize-aware", [](const TrainSettings& s) { return s.quantize_aware > 0; }, "trees have no integers"},
    {"loss", [](const TrainSettings& s) { return s.loss != kAutoText; }, "trees make log loss or squares least"},
    {"shards", [](const TrainSettings& s) { return s.shards > 0; }, "trees are grown in one piece"},
    {"shard-data", [](const TrainSettings& s) { return s.shard_data; }, "trees need all rows"}};

bool IsKernelMachine(const TrainSettings& settings) { return MethodFrom(settings) == Method::kKernelMachine; }

// Why rows cannot say how much trees count; or empty.
std::string WhyNoTrees(const TrainSettings& settings, const TrainData& data) {
  const int64_t left_out = IsKernelMachine(settings) ? data.train.size() : data.validation.size();
  if (left_out < kLeastRowsOfTrees) {
    return fmt::format("{} say how much trees count, and {} are needed",
                       Counted(left_out, IsKernelMachine(settings) ? "training row{s}" : "validation row{s}"),
                       kLeastRowsOfTrees);
  }
  if (IsKernelMachine(settings) && data.train.size() > kMostRowsOfKernels) {
    return fmt::format("a kernel machine answers rows left out one by one up to {} training rows",
                       WithThousands(kMostRowsOfKernels));
  }
  if (!data.train.sample_weights.empty()) {
    return "rows have weights";
  }
  if (!data.train.groups.empty()) {
    return "rows have groups";
  }
  return data.train.times.empty() ? "" : "rows have times";
}

double OperationsOf(const TrainSettings& settings, const Dataset& train, bool validates, int64_t leaves) {
  return BoostOperations(train, validates, TreeOptions(settings, train, validates, leaves));
}

bool AreQuick(const TrainSettings& settings, const TrainData& data) {
  return OperationsOf(settings, data.train, data.validation.size() > 0, kTreeLeaves) <= kMostOperations;
}

// What is tried: trees that are best for rows left out are taken.
std::vector<BoostOptions> OptionsToTry(const TrainSettings& settings, const Dataset& train, bool validates) {
  std::vector<BoostOptions> options = {TreeOptions(settings, train, validates)};
  const auto operations = [&](int64_t leaves) { return OperationsOf(settings, train, validates, leaves); };
  if (!settings.tree_leaves && train.size() >= kLeastRowsOfDeepTrees &&
      operations(kTreeLeaves) + operations(kDeepTreeLeaves) <= kMostOperations) {
    options.push_back(TreeOptions(settings, train, validates, kDeepTreeLeaves));
  }
  return options;
}

// Trees that are tried in turn. Those that answer rows left out best are kept. Each function says whether trees were
// grown to the end.
struct Trial {
  const TrainSettings& settings;
  const Dataset& train;
  const Dataset& validation;
  int threads;
  const std::function<bool()>& stop_requested;
  BoostOptions options;  // of those that are kept
  BoostedTrees trees;

  bool Try(BoostOptions tried) {
    tried.threads = threads;
    tried.stop_requested = stop_requested;
    tried.to_beat = trees.losses;
    BoostedTrees grown = TryBoostedTrees(train, validation, tried);
    if (!grown.complete) {
      return false;
    }
    if (!trees.complete || grown.left_out_loss < kMustHave * trees.left_out_loss) {
      trees = std::move(grown);
      options = std::move(tried);
    }
    return true;
  }

  // Trees as those that are kept, which also ask about sums of the columns that these ask together.
  bool TrySums() {
    const int64_t usual = train.size() >= kLeastRowsOfDeepTrees ? kTreePairs : 0;
    std::vector<ColumnSum> sums = SumsOfPairs(trees, train.features, settings.tree_pairs.value_or(usual));
    if (sums.empty()) {
      return true;
    }
    return Try(TreeOptions(settings, train, validation.size() > 0, options.leaves, std::move(sums)));
  }

  bool LearnAll() {
    trees = validation.size() > 0 ? LearnAllRows(RowsOfBoth(train, validation), options, std::move(trees))
                                  : LearnAllRows(train, options, std::move(trees));
    return trees.complete;
  }
};

}  // namespace

std::optional<TreeTraining> TrainTrees(const TrainSettings& settings, const Dataset& train, const Dataset& validation,
                                       const Backend& backend, const std::function<bool()>& stop_requested,
                                       bool learn_both) {
  const bool device = backend.space() == Space::kDevice;
  const int threads = device ? ResolveThreads(static_cast<int>(settings.threads)) : backend.threads();
  Trial trial{settings, train, validation, threads, stop_requested, {}, {}};
  const std::vector<BoostOptions> options = OptionsToTry(settings, train, validation.size() > 0);
  if (!std::ranges::all_of(options, [&](const BoostOptions& tried) { return trial.Try(tried); }) || !trial.TrySums() ||
      ((learn_both || validation.size() == 0) && !trial.LearnAll())) {
    return std::nullopt;
  }
  BoostedTrees& trees = trial.trees;
  TreeTraining trained{NetworkOfTrees(trees, train.targets.cols(), !train.labels.empty(), train.dtype()),
                       std::move(trees.left_out),
                       {{"trees", trees.trees.size()},
                        {"leaves", trial.options.leaves},
                        {"rate", trial.options.rate},
                        {"sums", trees.sums.size()}}};
  if (!std::isnan(trees.left_out_loss)) {
    trained.found["left_out_loss"] = trees.left_out_loss;
  }
  return trained;
}

bool HasTreesBeside(const TrainSettings& settings, const TrainData& data) {
  const bool possible = settings.trees == kPossibleText || (settings.trees == kAutoText && HasKernelsBeside(settings));
  return settings.trees == kYesText || (possible && WhyNoTrees(settings, data).empty() && AreQuick(settings, data));
}

void RequireTreesBeside(const TrainSettings& settings, const TrainData& data, const Model& model) {
  if (settings.trees != kYesText) {
    return;
  }
  for (const Refused& refused : kRefusedBeside) {
    if (refused.given(settings)) {
      RefuseSetting(refused.name,
                    fmt::format("--{} cannot be combined with --trees yes: {}", refused.name, refused.why),
                    SettingText(settings, refused.name), "Leave it out, or use --trees no.");
    }
  }
  Model both;
  both.network = model.network;
  both.others.emplace_back(TreeLayers(data.preprocessor.inputs().count(), 1, 1, data.preprocessor.targets().count(),
                                      HasClasses(data.preprocessor)),
                           model.network.dtype());
  both.shares = {0.5, 0.5};
  const Verdict verdict = CheckEnsemble(both);
  if (const std::string why = verdict ? WhyNoTrees(settings, data) : verdict.reason; !why.empty()) {
    RefuseSetting("trees", "--trees: " + why, settings.trees, "Use --trees no.");
  }
}

void AnswerWithTrees(TreeTraining trees, const Matrix& targets, Matrix& answers, Model& model) {
  trees.found["share"] = AddBeside(std::move(trees.network), trees.left_out, targets, kShareOfTrees, answers, model);
  model.training["trees"] = std::move(trees.found);
}

}  // namespace lamina
