// Errors of the library as exceptions of lamina._errors, with the same sentence.
#include <nanobind/stl/string.h>

#include <exception>
#include <string>

#include "lamina/base/error.h"
#include "python/src/bindings.h"

namespace lamina::python {
namespace {

void Raise(const Error& error) {
  try {
    const ErrorContext& context = error.context();
    const nb::object made =
        nb::module_::import_("lamina._errors")
            .attr("make")(std::string(ErrorCodeName(error.code())), std::string(error.what()), context.file,
                          context.line, context.column, context.value, context.remedy, context.setting);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

}  // namespace

void BindErrors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      Raise(error);
    }
  });
}

}  // namespace lamina::python
