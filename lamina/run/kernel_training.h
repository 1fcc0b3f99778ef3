// Kernel machines from settings and rows: alone (--method rfm), or beside a network (--recipe mixed).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/model/model.h"
#include "lamina/rbf/kernel_network.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/settings.h"

namespace lamina {

struct KernelTraining {
  KernelNetwork fitted;
  nlohmann::json found;  // what it chose: model.training["method"]
};

/// Where `settings` let systems be solved: on `backend`, or by threads of this processor.
void SolveBy(const Backend& backend, const TrainSettings& settings, KernelNetworkOptions& options);

/// A kernel machine of `train`, with the choices of `settings` in the place of those in `options`. None where it was
/// stopped between two parts of the work. Throws Error, and Stopped.
std::optional<KernelTraining> TrainKernels(const TrainSettings& settings, const Dataset& train,
                                           KernelNetworkOptions options);

/// The kernel machine of --recipe mixed; other recipes have none. It trains on training and validation rows together
/// and leaves rows out itself; where rows have weights, on the training rows. False where it was stopped. Throws Error.
bool TrainKernelsBeside(const TrainSettings& settings, const TrainData& data, const Backend& backend,
                        const std::function<bool()>& stop_requested, std::optional<KernelTraining>& trained);

/// With --recipe mixed: throws Error(kInvalidArgument) for settings and networks of `model` that no kernel machine can
/// stand beside.
void RequireKernelsBeside(const TrainSettings& settings, const TrainData& data, const Model& model);

/// Makes `model`, one network, answer together with the kernel machine, if there is one. The machine counts a quarter
/// to three quarters, by the least loss of both on the validation rows. There it answers as a machine of the training
/// rows would. Both count half where validation rows are fewer than 100, or rows have weights.
void AnswerWithKernels(std::optional<KernelTraining> kernels, const TrainData& data, const Backend& backend,
                       Model& model);

}  // namespace lamina
