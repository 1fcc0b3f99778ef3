// A network's outputs to answers in C: the sum of an ensemble, units of the target, classes and intervals.
#pragma once

#include <string>

#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_writer.h"

namespace lamina {

/// Adds "static void @_outputs(const float *x, float *y)" of all networks of the model.
void AddOutputs(CWriter& out, const Model& model);

/// Adds the names of columns, outputs and classes, "@_predict", and of classes "@_class_of", of intervals "@_interval",
/// which DeclarationsOf() declares.
void AddAnswers(CWriter& out, const Model& model, const CColumns& columns);

/// @_class_of on outputs of `type`; `threshold`: between the classes of a single output.
void AddClassOf(CWriter& out, const TargetEncoder& targets, const std::string& type, const std::string& threshold);

/// The names of columns and of classes, or else of outputs, as arrays.
void AddNames(CWriter& out, const Model& model, const CColumns& columns);

/// OutputNames() of a model with preprocessing, "y0", ... of one without.
std::vector<std::string> NamesOfOutputs(const Model& model);

}  // namespace lamina
