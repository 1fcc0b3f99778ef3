// Options as they come, and the library's function.
#include "python/src/distill.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lamina/base/error.h"
#include "lamina/base/stop.h"

namespace lamina::python {

void BindDistillOptions(nb::module_& module) {
  nb::class_<DistillOptions>(module, "DistillOptions")
      .def(
          "__init__",
          [](DistillOptions* self, std::vector<int64_t> hidden, std::optional<int64_t> epochs,
             std::optional<int64_t> made_up, uint64_t seed, const std::string& backend,
             int threads) { new (self) DistillOptions{std::move(hidden), epochs, made_up, seed, backend, threads}; },
          nb::arg("hidden"), nb::arg("epochs").none(), nb::arg("made_up").none(), nb::arg("seed"), nb::arg("backend"),
          nb::arg("threads"));
}

Model DistilledModel(const Model& teacher, const std::optional<Table>& rows, const DistillOptions& options) {
  if (!rows) {
    throw Error(ErrorCode::kInvalidArgument, "there are no rows", {.remedy = "Give a table or the path of a file."});
  }
  Distilled distilled = Distill(teacher, *rows, AllRowsOf(*rows), options,
                                {.stop_requested = &StopRequested, .abandon_requested = &StopRequested});
  StopPoint();
  return std::move(distilled.model);
}

}  // namespace lamina::python
