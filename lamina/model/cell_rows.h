// Rows of texts for a model: what a person types, and what programs have that know no tables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/reader.h"
#include "lamina/model/model.h"

namespace lamina {

/// A value that one row must have for an answer.
struct CellColumn {
  std::string name;
  const FittedColumn* fitted;  // of the model; null for a column that only derived ones are made from
};

/// The model's inputs, those that are derived as the columns they are made from; where they are derived from other
/// rows, as they are. Throws Error(kBadModel) for a network that is not fed from raw rows.
std::vector<CellColumn> CellColumnsOf(const Model& model);

/// `cells`: row after row, a text for each of CellColumnsOf(model); an empty one is missing. They are read as those of
/// a file, by `options`: AnswerTable() answers the table. Throws Error naming the column.
Table TableOfCells(const Model& model, std::span<const std::string_view> cells, ReadOptions options = {});

}  // namespace lamina
