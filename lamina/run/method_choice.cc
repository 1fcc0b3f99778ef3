// Few rows, and nothing asked that only a network has.
#include "lamina/run/method_choice.h"

#include <fmt/format.h>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/run/tree_training.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/recipe.h"

namespace lamina {
namespace {

// Those that say nothing about a network, its steps, or rows that are watched while it learns.
bool LeavesMethodOpen(const TrainSettings& settings, const RawData& raw) {
  return EffortFrom(settings) != Effort::kBest && settings.method == kAutoText && settings.recipe == kAutoText &&
         settings.backend != "cuda" && settings.memory.empty() && !settings.bag && !settings.calibrate &&
         !settings.intervals && !raw.main.train.is_image;
}

TrainSettings AsKernelMachine(const TrainSettings& settings, const RawData& raw) {
  TrainSettings kernels = settings;
  kernels.method = NameOf(Method::kKernelMachine, kMethods);
  kernels.recipe = RecipeFor(kernels, /*images=*/false);
  if (kernels.split.empty()) {
    const SplitOptions split = SplitOptionsFrom(settings, raw.main.test.has_value(), raw.validation.has_value());
    kernels.split = {split.train + split.validation, 0, split.test};
  }
  return kernels;
}

// Where groups or times leave rows out, one method alone: validation rows are of no group that a kernel machine knows.
int64_t MostRowsFor(const TrainSettings& settings) {
  return settings.group.empty() && settings.split_by.empty() ? kMostRowsOfMixed : kMostRowsOfKernels;
}

// Beside a kernel machine of rows that each count once and are answered one by one.
bool TreesMayHelp(const TrainSettings& settings, const DataPlan& plan) {
  const TargetEncoder& targets = plan.preprocessor.targets();
  const TrainRows rows{std::ssize(plan.split.train), 0, !targets.class_names().empty(), plan.preprocessor.inputs().count()};
  return settings.trees == kAutoText && rows.train >= kLeastRowsOfTrees && settings.class_weights.empty() &&
         settings.weight_column.empty() && settings.group.empty() && settings.split_by.empty() &&
         TreesAreQuick(settings, rows, targets.count());
}

DataPlan PlanOf(TrainSettings settings, const RawData& raw, std::span<const Activation> custom) {
  if (settings.folds > 0 && settings.fold == 0) {
    settings.fold = 1;
  }
  return PlanData(settings, raw, custom);
}

}  // namespace

MethodChoice ChooseMethod(const TrainSettings& given, const RawData& raw, std::span<const Activation> custom) {
  const TrainSettings settings = WithQuick(given);
  const bool images = raw.main.train.is_image;
  MethodChoice network{settings, RecipeRemark(settings, images)};
  network.settings.recipe = RecipeFor(settings, images);
  // Twice as many are never few training rows; PlanData() reads all of them.
  if (!LeavesMethodOpen(settings, raw) || (settings.samples == 0 && raw.main.train.rows > 2 * MostRowsFor(settings))) {
    return network;
  }
  try {
    MethodChoice kernels{AsKernelMachine(settings, raw), ""};
    ValidateMethod(Resolve(kernels.settings));
    const DataPlan alone = PlanOf(kernels.settings, raw, custom);
    const int64_t rows = std::ssize(alone.split.train);
    if (rows <= kMostRowsOfKernels) {
      const bool trees = TreesMayHelp(settings, alone);
      kernels.settings.trees = trees ? std::string(kYesText) : settings.trees;
      kernels.remark = fmt::format(
          "method rfm, a kernel machine that keeps the {}{}: best for tables of up to {} rows. --method "
          "backpropagation trains a network",
          Counted(rows, "training row{s}"), trees ? ", with boosted trees beside it" : "",
          WithThousands(kMostRowsOfKernels));
      return alone.preprocessor.inputs().count() > kMostInputsOfKernels ? network : kernels;
    }
    const int64_t both = rows + std::ssize(alone.split.validation);  // of which the machine beside a network is
    if (both > MostRowsFor(settings) || network.settings.recipe != kTabularRecipe) {
      return network;
    }
    MethodChoice mixed = network;
    mixed.settings.recipe = kMixedRecipe;
    mixed.remark = fmt::format(
        "recipe mixed, a network and a kernel machine that keeps the {}: best for tables of more than {} and up to {} "
        "rows. --recipe tabular trains the network alone",
        Counted(both, "row{s}"), WithThousands(kMostRowsOfKernels), WithThousands(kMostRowsOfMixed));
    const auto is_quick = [both](const DataPlan& plan) {
      return both * both * plan.preprocessor.inputs().count() <= kMostWorkOfMixed;
    };
    // Beside a network rare categories share an input: most tables need no second plan.
    return is_quick(alone) || is_quick(PlanOf(mixed.settings, raw, custom)) ? mixed : network;
  } catch (const Error&) {  // said where the network is planned, or not true of it
    return network;
  }
}

}  // namespace lamina
