// The parts of the module lamina._core.
#pragma once

#include <nanobind/nanobind.h>

namespace lamina::python {

namespace nb = nanobind;

void BindErrors(nb::module_& module);
void BindArrayFunctions(nb::module_& module);
void BindNetwork(nb::module_& module);
void BindTraining(nb::module_& module);
void BindClusters(nb::module_& module);
void BindDirect(nb::module_& module);
void BindTable(nb::module_& module);
void BindEncoder(nb::module_& module);
void BindModel(nb::module_& module);

}  // namespace lamina::python
