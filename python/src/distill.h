// Model.distill of Python.
#pragma once

#include <optional>

#include "lamina/run/distill.h"
#include "python/src/bindings.h"

namespace lamina::python {

/// The class DistillOptions of the module.
void BindDistillOptions(nb::module_& module);

/// One network that answers as `teacher` does to rows like these. Throws Error, and Stopped where it is called off.
Model DistilledModel(const Model& teacher, const std::optional<Table>& rows, const DistillOptions& options);

}  // namespace lamina::python
