// Reading, storing and ordering costs.
#include "lamina/model/cost_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/kddcup99.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr std::string_view kKddName = "kddcup99";

CostMatrix KddCosts() {
  CostMatrix matrix;
  const auto categories = KddCategories();
  for (size_t i = 0; i < categories.size(); ++i) {
    matrix.classes.emplace_back(categories[i]);
    matrix.costs.emplace_back();
    for (size_t j = 0; j < categories.size(); ++j) {
      matrix.costs.back().push_back(KddCost(i, j));
    }
  }
  return matrix;
}

}  // namespace

std::string CostMatrix::FileOf(const std::string& name_or_path) { return name_or_path == kKddName ? "" : name_or_path; }

CostMatrix CostMatrix::Read(const std::string& name_or_path) {
  if (name_or_path == kKddName) {
    return KddCosts();
  }
  ReadOptions options;
  options.header = Header::kYes;
  options.text_columns = {"0"};
  const Table table = ReadTable(name_or_path, options);
  const Column& names = table.columns.front();
  CostMatrix matrix;
  for (size_t j = 1; j < table.columns.size(); ++j) {
    matrix.classes.push_back(table.columns[j].name);
  }
  matrix.costs.assign(matrix.classes.size(), {});
  for (int64_t row = 0; row < table.rows; ++row) {
    const int32_t code = names.codes[static_cast<size_t>(row)];
    const auto found =
        code < 0 ? matrix.classes.end()
                 : std::find(matrix.classes.begin(), matrix.classes.end(), names.categories[static_cast<size_t>(code)]);
    if (found == matrix.classes.end()) {
      ThrowCell(table, row, names, "--cost-matrix: a true class that is not among the predicted ones of the header",
                "A line is a class of the header and its costs.");
    }
    std::vector<double>& costs = matrix.costs[static_cast<size_t>(found - matrix.classes.begin())];
    if (!costs.empty()) {
      ThrowCell(table, row, names, "--cost-matrix: a class has two lines", "Take one out.");
    }
    for (size_t j = 1; j < table.columns.size(); ++j) {
      const Column& column = table.columns[j];
      if (column.kind == ColumnKind::kText || column.IsMissing(row)) {
        ThrowCell(table, row, column, "--cost-matrix: a cost must be a number", "Correct the value.");
      }
      costs.push_back(column.Number(row));
    }
  }
  for (size_t i = 0; i < matrix.costs.size(); ++i) {
    if (matrix.costs[i].empty()) {
      throw Error(ErrorCode::kBadData, "--cost-matrix: a class of the header has no line",
                  {.file = name_or_path, .value = matrix.classes[i]});
    }
  }
  return matrix;
}

json CostMatrix::ToJson() const { return {{"classes", classes}, {"costs", costs}}; }

CostMatrix CostMatrix::FromJson(const json& node) {
  try {
    CostMatrix matrix{node.at("classes").get<std::vector<std::string>>(),
                      node.at("costs").get<std::vector<std::vector<double>>>()};
    const auto whole = [&](const std::vector<double>& row) { return row.size() == matrix.classes.size(); };
    if (matrix.costs.size() == matrix.classes.size() && std::all_of(matrix.costs.begin(), matrix.costs.end(), whole)) {
      return matrix;
    }
  } catch (const json::exception&) {  // worded below
  }
  throw Error(ErrorCode::kBadModel, "the cost matrix is wrong");
}

CostMatrix CostMatrix::InOrder(std::span<const std::string> names) const {
  std::vector<size_t> place;
  for (const std::string& name : names) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      throw Error(
          ErrorCode::kInvalidArgument, "--cost-matrix lacks a class of the target",
          {.value = name, .remedy = DidYouMean(name, classes) + fmt::format("It has: {}.", fmt::join(classes, ", "))});
    }
    place.push_back(static_cast<size_t>(found - classes.begin()));
  }
  CostMatrix ordered{{names.begin(), names.end()}, {}};
  for (const size_t i : place) {
    ordered.costs.emplace_back();
    for (const size_t j : place) {
      ordered.costs.back().push_back(costs[i][j]);
    }
  }
  return ordered;
}

}  // namespace lamina
