// The Open Inference Protocol, version 2, over REST: metadata and inference.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lamina/serve/job.h"

namespace lamina::serve {

/// Describes the server.
std::string ServerMetadata();
/// Describes a model: its tensors. A model of numbers takes one tensor "input" of rows × columns, others one a
/// column; either way is understood.
std::string ModelMetadata(const ServedModel& model);

/// An output that a model has.
struct OutputTensor {
  std::string name;
  std::string datatype;
  std::vector<int64_t> shape;  // -1: rows
};
/// Classes: "label" and "outputs" (one a class); else "prediction", and "lower" and "upper" where it has intervals. The
/// names are those of its ONNX file.
std::vector<OutputTensor> OutputsOf(const ServedModel& model);

/// As ReadPredict().
void ReadInference(const Request& request, DriftCounts* drift, Job& job);

}  // namespace lamina::serve
