// Columns of numbers are views of arrays, those of text are codes.
#include "python/src/py_table.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/encode/derive.h"
#include "lamina/data/files/cells.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"

namespace lamina::python {
namespace {

// Keeps an array until the last table that views it is gone, on whatever thread.
std::shared_ptr<const void> KeptAlive(const nb::object& array) {
  return {array.inc_ref().ptr(), [](const void* object) {
            const nb::gil_scoped_acquire lock;
            nb::handle(static_cast<PyObject*>(const_cast<void*>(object))).dec_ref();
          }};
}

void RequireRows(Table& table, const std::string& name, int64_t rows) {
  if (!table.columns.empty() && table.rows != rows) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("column '{}' has {} rows, those before it {}", name, rows, table.rows));
  }
  table.rows = rows;
}

void AddNumbers(PyTable& table, const std::string& name, const nb::object& object, const std::string& dtype,
                bool is_date) {
  const InArray array = nb::cast<InArray>(object);
  Column column;
  column.dtype = ParseDType(dtype);
  if (array.ndim() != 1 || static_cast<int64_t>(array.itemsize()) != DTypeSize_bytes(column.dtype)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("column '{}' is not a 1-d array of {}", name, dtype));
  }
  RequireRows(table, name, static_cast<int64_t>(array.shape(0)));
  column.name = name;
  column.is_date = is_date;
  column.numbers = array.data();
  column.stride = table.rows > 1 ? array.stride(0) : 1;
  column.owner = KeptAlive(object);
  table.columns.push_back(std::move(column));
}

void AddTexts(PyTable& table, const std::string& name, const InArray& codes, std::vector<std::string> categories,
              bool stays_text) {
  const auto* first = static_cast<const int32_t*>(
      VectorOf(codes, DType::kI32, codes.ndim() == 1 ? static_cast<int64_t>(codes.shape(0)) : -1, "codes"));
  Column column;
  column.kind = ColumnKind::kText;
  column.name = name;
  column.codes.assign(first, first + codes.shape(0));
  column.categories = std::move(categories);
  for (const int32_t code : column.codes) {
    if (code < -1 || code >= std::ssize(column.categories)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("column '{}' has a code without a category", name),
                  {.value = std::to_string(code)});
    }
  }
  RequireRows(table, name, std::ssize(column.codes));
  if (stays_text) {
    table.texts.push_back(name);
  }
  table.columns.push_back(std::move(column));
}

}  // namespace

RawData RawDataOf(const TrainSettings& settings, const PyTable& table, const PyTable* test, const PyTable* validation) {
  const DataSources sources = SourcesFrom(settings);
  RawData raw;
  raw.main.train = table;
  ReadAsCells(raw.main.train, sources.read, table.texts);
  ReadOptions others = sources.read;
  for (const Column& column : raw.main.train.columns) {
    others.known_columns.push_back(KnownColumnOf(column));
  }
  const auto read = [&](const PyTable* from, std::optional<Table>& to) {
    if (from != nullptr) {
      to = *from;
      ReadAsCells(*to, others, from->texts);
    }
  };
  read(test, raw.main.test);
  read(validation, raw.validation);
  DeriveColumns(raw.main.train, sources.derive);
  RequireDates(raw.main.train, sources.derive);
  for (std::optional<Table>* other : {&raw.main.test, &raw.validation}) {
    if (other->has_value()) {
      DeriveColumns(**other, sources.derive);
    }
  }
  return raw;
}

void BindTable(nb::module_& module) {
  nb::class_<PyTable>(module, "Table", "Named columns of numbers or texts.")
      .def(
          "__init__",
          [](PyTable* self, const std::string& source, bool has_names) {
            new (self) PyTable();
            self->source = source;
            self->has_names = has_names;
          },
          nb::arg("source"), nb::arg("has_names") = true)
      .def("add_numbers", &AddNumbers, nb::arg("name"), nb::arg("array"), nb::arg("dtype"), nb::arg("is_date") = false,
           "A view of a 1-d array with any stride; NaN is missing.")
      .def("add_texts", &AddTexts, nb::arg("name"), nb::arg("codes"), nb::arg("categories"),
           nb::arg("stays_text") = false,
           "Code -1 is missing. Texts are read as the cells of a file, unless the column stays text.")
      .def("__len__", [](const PyTable& self) { return self.rows; })
      .def_prop_ro("columns", [](const PyTable& self) { return self.ColumnNames(); });
}

}  // namespace lamina::python
