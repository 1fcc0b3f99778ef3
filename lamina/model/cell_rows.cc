// The columns that a row is made of, and the table of such rows.
#include "lamina/model/cell_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/data/files/cells.h"
#include "lamina/model/answer.h"

namespace lamina {

std::vector<CellColumn> CellColumnsOf(const Model& model) {
  RequireRawRows(model);
  const std::vector<FittedColumn>& fitted = model.preprocessor.inputs().columns();
  std::vector<std::string> names;
  std::transform(fitted.begin(), fitted.end(), std::back_inserter(names),
                 [](const FittedColumn& column) { return column.name; });
  std::vector<CellColumn> columns;
  for (const std::string& name : RowSourcesOf(model.preprocessor.derive(), names).value_or(names)) {
    const auto found = std::find(names.begin(), names.end(), name);
    columns.push_back({name, found == names.end() ? nullptr : &fitted[static_cast<size_t>(found - names.begin())]});
  }
  return columns;
}

Table TableOfCells(const Model& model, std::span<const std::string_view> cells, ReadOptions options) {
  std::vector<std::string> names;
  for (const CellColumn& column : CellColumnsOf(model)) {
    names.push_back(column.name);
  }
  if (cells.empty() || cells.size() % names.size() != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} cells are no whole rows of {} columns", cells.size(), names.size()));
  }
  model.preprocessor.AddTo(options);
  return ReadCells(names, cells, "", options);
}

}  // namespace lamina
