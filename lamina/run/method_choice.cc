// Few rows, and nothing asked that only a network has.
#include "lamina/run/method_choice.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
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

DataPlan PlanOf(TrainSettings settings, const RawData& raw, std::span<const Activation> custom) {
  if (settings.folds > 0 && settings.fold == 0) {
    settings.fold = 1;
  }
  return PlanData(settings, raw, custom);
}

// A network and a kernel machine of `both` parts of the rows, those for training and for validation.
MethodChoice AsMixed(MethodChoice choice, int64_t both) {
  choice.settings.recipe = kMixedRecipe;
  TellPairsApart(both, choice.settings);
  choice.remark = fmt::format(
      "recipe mixed, a network and a kernel machine that keeps the {}: best for tables of more than {} and up to {} "
      "rows. --recipe tabular trains the network alone",
      Counted(both, "row{s}"), WithThousands(kMostRowsOfKernels), WithThousands(kMostRowsOfMixed));
  return choice;
}

// As a kernel machine, or none where something is asked of a network.
std::optional<TrainSettings> KernelMachineFor(const TrainSettings& settings, const RawData& raw) {
  try {
    TrainSettings kernels = AsKernelMachine(settings, raw);
    ValidateMethod(Resolve(kernels));
    return kernels;
  } catch (const Error&) {  // said where the network is planned
    return std::nullopt;
  }
}

}  // namespace

MethodChoice ChooseMethod(const TrainSettings& given, const RawData& raw, std::span<const Activation> custom) {
  TrainSettings settings = WithQuick(given);
  const bool images = raw.main.train.is_image;
  MethodChoice network{settings, RecipeRemark(settings, images)};
  network.settings.recipe = RecipeFor(settings, images);
  std::optional<TrainSettings> kernels;
  if (!LeavesMethodOpen(settings, raw) || !(kernels = KernelMachineFor(settings, raw))) {
    return network;
  }
  if (settings.trees == kAutoText && network.settings.recipe == kTabularRecipe) {
    network.settings.trees = kernels->trees = kPossibleText;
  }
  if (settings.line == kAutoText && network.settings.recipe == kTabularRecipe) {
    network.settings.line = kernels->line = kPossibleText;
  }
  // Twice as many are never few training rows; PlanData() reads all of them.
  if (settings.samples == 0 && raw.main.train.rows > 2 * MostRowsFor(settings)) {
    return network;
  }
  try {
    const DataPlan alone = PlanOf(*kernels, raw, custom);
    const int64_t rows = std::ssize(alone.split.train);
    if (rows <= kMostRowsOfKernels) {
      std::string remark = fmt::format(
          "method rfm, a kernel machine that keeps the {}: best for tables of up to {} rows. --method backpropagation "
          "trains a network",
          Counted(rows, "training row{s}"), WithThousands(kMostRowsOfKernels));
      return alone.preprocessor.inputs().count() > kMostInputsOfKernels
                 ? network
                 : MethodChoice{std::move(*kernels), std::move(remark)};
    }
    const int64_t both = rows + std::ssize(alone.split.validation);  // of which the machine beside a network is
    if (both > MostRowsFor(settings) || network.settings.recipe != kTabularRecipe) {
      return network;
    }
    const MethodChoice mixed = AsMixed(network, both);
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
