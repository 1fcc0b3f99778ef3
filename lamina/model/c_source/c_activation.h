// Activations in C: the formulas of neuron/formulas.inc once more, as text.
#pragma once

#include <map>
#include <string>

#include "lamina/model/c_source/c_writer.h"
#include "lamina/neuron/activation.h"

namespace lamina {

/// The functions of one source, each written once.
class CActivations {
 public:
  explicit CActivations(CWriter& out) : out_(out) {}
  /// Adds "static float @_tanh(float z)" unless it is there, and returns its name; "" for identity and softmax. Throws
  /// Error(kUnsupported) for a user's own.
  std::string Function(const Activation& activation);

 private:
  CWriter& out_;
  std::map<std::string, std::string> names_;  // by the activation's text
  std::map<std::string, int> counts_;         // of activations of a name
};

}  // namespace lamina
