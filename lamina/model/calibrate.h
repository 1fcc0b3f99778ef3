// Temperature scaling (Guo et al., 2017): the input of the softmax or sigmoid is divided by one number. It is fitted to
// rows that the network has not learned from, and folded into the last layer: all that read the model have it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "lamina/backend/backend.h"
#include "lamina/base/error.h"
#include "lamina/model/model.h"

namespace lamina {

/// The temperature that makes -ln of the true class's probability least: softmax of logits / temperature, or the
/// sigmoid of the one logit of two classes. `logits`: rows × classes (or × 1), f64; labels below 0 are left out;
/// `weights` of the rows, empty: 1. From 1/20 to 20: where every row is right, the least loss would be at none.
double FitTemperature(const Matrix& logits, std::span<const int32_t> labels, std::span<const double> weights = {});

/// Whether the answers of `model` are probabilities that a temperature can change.
Verdict CanCalibrate(const Model& model);

/// Log loss and expected calibration error of the rows, before and after.
struct Calibration {
  double temperature = 1;
  int64_t rows = 0;
  double log_loss_before = 0;
  double log_loss = 0;
  double error_before = 0;
  double error = 0;
};
/// Fits the temperature to `rows` and divides the last layer's weights and bias by it. Throws Error(kUnsupported) where
/// CanCalibrate() says no, and Error(kInvalidArgument) without rows.
Calibration Calibrate(Model& model, const Backend& backend, const Dataset& rows);

/// Divides what goes into the last activation, of every network of an ensemble, by `temperature`.
void ApplyTemperature(Model& model, double temperature);

nlohmann::json ToJson(const Calibration& calibration);

}  // namespace lamina
