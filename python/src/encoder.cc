// Tables as rows of numbers, without a network.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lamina/data/encode/bound_table.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/files/cells.h"
#include "lamina/settings/meanings.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/interrupts.h"
#include "python/src/py_table.h"

namespace lamina::python {
namespace {

using nlohmann::json;

/// Input columns as numbers, without a target that matters.
struct Encoder {
  Preprocessor preprocessor;
};

std::vector<std::string> TextsOf(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kText) {
      names.push_back(column.name);
    }
  }
  return names;
}

// Text is categories, whatever it looks like.
std::unique_ptr<Encoder> FitEncoder(PyTable& table, const std::string& target, const std::string& missing,
                                    const std::string& unseen) {
  PreprocessOptions options;
  options.targets = {target};
  options.task = Task::kRegression;
  options.missing = ParseMissing(missing);
  options.unseen = unseen == "zero" ? UnseenPolicy::kZero : UnseenPolicy::kError;
  return Interruptibly([&] {
    ReadAsCells(table, {}, TextsOf(table));
    return std::make_unique<Encoder>(Encoder{Preprocessor::Fit(table, AllRowsOf(table), options)});
  });
}

nb::object EncodeTable(const Encoder& self, PyTable& table) {
  return NumpyOf(Interruptibly([&] {
    ReadOptions options;
    self.preprocessor.AddTo(options);
    ReadAsCells(table, options, TextsOf(table));
    return BoundTable(self.preprocessor, table).EncodeInputs(AllRowsOf(table), DType::kF64).features;
  }));
}

}  // namespace

void BindEncoder(nb::module_& module) {
  nb::class_<Encoder>(module, "Encoder", "Tables as rows of numbers.")
      .def(nb::new_(&FitEncoder), nb::arg("table"), nb::arg("target"), nb::arg("missing"), nb::arg("unseen"))
      .def_static(
          "from_json",
          [](const std::string& text) {
            return std::make_unique<Encoder>(Encoder{Preprocessor::FromJson(json::parse(text))});
          },
          nb::arg("text"))
      .def("encode", &EncodeTable, nb::arg("table"), "rows x numbers, f64.")
      .def_prop_ro("json", [](const Encoder& self) { return self.preprocessor.ToJson().dump(); });
}

}  // namespace lamina::python
