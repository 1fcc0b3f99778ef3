// Raw columns to the inputs of a network, as operators of an ONNX graph.
#pragma once

#include <set>
#include <string>

#include "lamina/data/encode/preprocessor.h"
#include "lamina/model/onnx_graph.h"

namespace lamina {

/// Adds the graph's inputs (numbers as one matrix, every text column by its name) and what the preprocessor does to
/// them. Returns the value of `dtype` that the first layer takes. The names of text columns go to `taken`. Throws
/// Error(kUnsupported) for what ONNX has no operators for.
std::string InputsInGraph(OnnxGraph& graph, const Preprocessor& preprocessor, DType dtype,
                          std::set<std::string>& taken);

/// `name`, with underscores behind where it is taken.
std::string FreeName(const std::set<std::string>& taken, std::string name);

}  // namespace lamina
