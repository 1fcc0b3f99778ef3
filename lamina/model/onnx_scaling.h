// The scaling of columns (ColumnScaling) as operators of an ONNX graph.
#pragma once

#include <span>
#include <string>

#include "lamina/data/encode/fitted_column.h"
#include "lamina/model/onnx_graph.h"

namespace lamina {

/// ColumnScaling::Encode() of `value` (rows × scalings, of `dtype`), a column each; operators that change nothing are
/// left out.
std::string EncodeInGraph(OnnxGraph& graph, DType dtype, std::string value, std::span<const ColumnScaling> scalings);
/// ColumnScaling::Decode().
std::string DecodeInGraph(OnnxGraph& graph, DType dtype, std::string value, std::span<const ColumnScaling> scalings);

}  // namespace lamina
