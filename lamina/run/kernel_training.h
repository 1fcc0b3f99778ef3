// Kernel machines from settings and rows: alone (--method rfm), or beside a network (--recipe mixed).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
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

/// What a machine says to rows that it has not seen, by its errors there (KernelMachine::left_out, or apart):
/// probabilities, or targets as encoded.
Matrix AnswersToLeftOut(const KernelNetwork& kernels, const Matrix& errors, const Matrix& targets);

/// How much a machine counts beside a network where nothing tells.
inline constexpr double kHalfShare = 0.5;

/// A quarter to three quarters, by the least loss of the answers of the network of `model` and of the machine together.
double ShareOfKernels(std::span<const Matrix> answers, const Matrix& targets, const Model& model);

}  // namespace lamina
