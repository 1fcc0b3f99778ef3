// Options of training from a dict, by the names of their fields.
#pragma once

#include <nanobind/nanobind.h>

#include "lamina/train/train_options.h"

namespace lamina::python {

namespace nb = nanobind;

/// "optimizer", "learning_rate", "momentum", "weight_decay", "beta1", "beta2", "epsilon"; what is left out has the
/// library's default. Throws Error(kInvalidArgument) naming an option that there is not.
UpdateRule UpdateRuleFrom(const nb::dict& options);

/// Those and the others of TrainOptions.
TrainOptions TrainOptionsFrom(const nb::dict& options);

}  // namespace lamina::python
