// How a model is found: step by step by gradients, or at once (lamina/rbf). The settings that a method reads, and what
// they mean for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/names.h"
#include "lamina/layer/neighbours.h"
#include "lamina/rbf/elm.h"
#include "lamina/rbf/fsvc.h"
#include "lamina/rbf/kernel_machine.h"
#include "lamina/settings/output_plan.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings.h"

namespace lamina {

enum class Method { kBackpropagation, kFsvc, kSfsvc, kElm, kNearest, kKernelMachine, kBoosting };

inline constexpr Named<Method> kMethods[] = {{"auto", Method::kBackpropagation},  // LearnsByGradient()
                                             {kBackpropagation, Method::kBackpropagation},
                                             {"fsvc", Method::kFsvc},
                                             {"sfsvc", Method::kSfsvc},
                                             {"elm", Method::kElm},
                                             {"knn", Method::kNearest},
                                             {"rfm", Method::kKernelMachine},
                                             {"boost", Method::kBoosting}};

/// Up to so many encoded columns "auto" may be rfm alone, by the rows (settings/mixed_recipe.h).
inline constexpr int64_t kMostInputsOfKernels = 500;

/// Throws Error(kInvalidArgument) offering the nearest name.
Method MethodFrom(const TrainSettings& settings);

/// Whether the method of `settings` reads the setting `name`; yes where there is no such method.
bool MethodReads(const TrainSettings& settings, std::string_view name);

/// Throws Error(kInvalidArgument) for a setting that is given and that the method does not read, and for a neuron that
/// the method cannot have.
void ValidateMethod(const ResolvedSettings& settings);

/// The hidden neuron: --neuron, the method's own for "auto", with --radius where that is given. `has_radius`: it is
/// known, or the curve needs none.
struct MethodNeuron {
  LayerSpec layer;  // without sizes
  bool has_radius = true;
};
MethodNeuron NeuronFrom(const TrainSettings& settings);

/// The loss, the output layer and the values of classes, for a method that is not backpropagation.
OutputPlan OutputOfMethod(const TrainSettings& settings, int64_t classes);
TargetForm TargetFormOfMethod(const TrainSettings& settings);
/// Its layers; those that find their centers in the rows have one center here. `classes`: 0 for regression. Throws
/// Error(kInvalidArgument) where the method needs classes and there are none.
std::vector<LayerSpec> LayersOfMethod(const ResolvedSettings& settings, int64_t inputs, int64_t outputs,
                                      int64_t classes);

FsvcOptions FsvcOptionsFrom(const TrainSettings& settings);

/// --feature-weights.
std::vector<std::string> FeatureWeightsChoices();
/// The kernels, ridges and rounds of --method rfm.
KernelChoices KernelChoicesFrom(const TrainSettings& settings);

}  // namespace lamina
