// A model as an ONNX file, preprocessing and class names included, for other runtimes.
#pragma once

#include <string>

#include "lamina/model/model.h"

namespace lamina {

/// The bytes of an ONNX file (IR 7, opset 13, ai.onnx.ml 2). It computes what Model computes on raw rows, in the
/// network's type:
///  inputs: "input" (rows × columns) where all columns are numbers, in the order of metadata "input_columns"; where
///   some are text, "numbers" for the others and a string input (rows × 1) for each text column, by its name. The
///   input of a network without preprocessing is "input".
///  outputs: "outputs" (rows × outputs) and for classes "label" (rows); "prediction" (rows × targets) in the units of
///   the targets for regression. A name that a text column has, too, gets an underscore.
/// Weights are as the model keeps them (Model::weights; WeightsInGraph).
/// Missing numbers are NaN, missing texts what the CSV reader takes for missing. A category not seen in training is an
/// error of the runtime or zeros, as the model says. Throws Error(kUnsupported) with the reason for what ONNX cannot
/// express: a user's own activation, files of 2 GiB and more.
std::string ToOnnx(const Model& model);

}  // namespace lamina
