// A network of 8-bit integers in C: what model/int8_network.h computes, to the bit.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_writer.h"
#include "lamina/model/int8_network.h"
#include "lamina/model/model.h"

namespace lamina {

/// Throws Error(kUnsupported) for models that answer by more than one network, by nearest rows or with quantiles.
void RequireOneNetwork(const Model& model);

/// Adds @_input_step, which the encoder reads.
void AddInputSteps(CWriter& out, const Int8Network& network);

/// Adds "void @_integers(const int8_t *x, int32_t *outputs)", "@_predict", "@_value" and of classes "@_class_of".
void AddInt8Answers(CWriter& out, const Model& model, const CColumns& columns, const Int8Network& network);

/// The declarations of these.
std::string Int8Declarations(const Model& model, const CColumns& columns, const std::string& name);

}  // namespace lamina
