// From cells to the inputs of a network.
#include "lamina/serve/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/encode/column_encode.h"
#include "lamina/data/files/cells.h"
#include "lamina/data/files/csv.h"
#include "lamina/data/files/missing_marks.h"
#include "lamina/model/html_page/html_page.h"

namespace lamina::serve {
namespace {

constexpr const char* kRequest = "request";  // in the place of a file's name

// A row of `features`, which are of the network's type, rows × inputs.
void* RowOf(Matrix& features, int64_t row) {
  return DispatchFloat(features.dtype(), [&]<class T>(T) -> void* { return features.Row<T>(row); });
}

// Texts and numbers of one column as the reader of Python's frames makes them: numbers stay numbers.
void FillColumn(const CellGrid& grid, int64_t index, Column& column) {
  const auto cell = [&](int64_t row) -> const GridCell& {
    return grid.cells[static_cast<size_t>(row * grid.columns + index)];
  };
  bool text = false;
  for (int64_t row = 0; row < grid.rows; ++row) {
    text = text || cell(row).kind == GridCell::Kind::kText;
  }
  if (!text) {
    const auto numbers = std::make_shared<std::vector<double>>(static_cast<size_t>(grid.rows), kNaN);
    for (int64_t row = 0; row < grid.rows; ++row) {
      if (cell(row).kind == GridCell::Kind::kNumber) {
        (*numbers)[static_cast<size_t>(row)] = cell(row).number;
      }
    }
    column.numbers = numbers->data();
    column.owner = numbers;
    return;
  }
  column.kind = ColumnKind::kText;
  std::unordered_map<std::string, int32_t> codes;
  for (int64_t row = 0; row < grid.rows; ++row) {
    const GridCell& here = cell(row);
    if (here.kind == GridCell::Kind::kMissing) {
      column.codes.push_back(-1);
      continue;
    }
    std::string name(here.kind == GridCell::Kind::kNumber && here.text.empty() ? NumberName(here.number)
                                                                               : std::string(here.text));
    const auto [found, added] = codes.try_emplace(name, static_cast<int32_t>(column.categories.size()));
    if (added) {
      column.categories.push_back(std::move(name));
    }
    column.codes.push_back(found->second);
  }
}

bool NeedsNoRemark(const Model& model) {
  ReadOptions options;
  model.preprocessor.AddTo(options);
  return RowEncoder::Accepts(model.preprocessor).ok && model.preprocessor.derive().columns.empty() &&
         !MissingMarks(options.missing_values).has_numbers();
}

}  // namespace

ServedModel::ServedModel(std::string name, Model model, int64_t version)
    : name_(std::move(name)),
      model_(std::move(model)),
      version_(version),
      predictor_(model_, model_.weights, RowPredictor::Rows::kEncoded),
      columns_(CellColumnsOf(model_)) {
  if (NeedsNoRemark(model_)) {
    encoder_.emplace(model_.preprocessor);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const FittedColumn& column : model_.preprocessor.inputs().columns()) {
      near_.push_back(column.span ? NearOf(*column.span) : NumberSpan{-kInfinity, kInfinity});
    }
  }
}

// Where each of the model's columns stands in a row; empty: in their order. False where one is not there.
bool ServedModel::PlacesOf(const NumberGrid& grid, std::vector<int64_t>& places) const {
  if (grid.names.empty()) {
    return grid.columns == std::ssize(columns_);
  }
  const auto same = [](const std::string& name, const CellColumn& column) { return name == column.name; };
  if (std::equal(grid.names.begin(), grid.names.end(), columns_.begin(), columns_.end(), same)) {
    return true;
  }
  std::unordered_map<std::string_view, int64_t> at;
  for (const std::string& name : grid.names) {
    at.emplace(name, std::ssize(at));
  }
  for (const CellColumn& column : columns_) {
    const auto found = at.find(column.name);
    if (found == at.end()) {
      return false;
    }
    places.push_back(found->second);
  }
  return true;
}

// Rows of plain numbers near those of training, by the quick way; false: there is something to be said, or refused.
bool ServedModel::EncodePlain(const NumberGrid& grid, DriftCounts* drift, EncodedRows& encoded) const {
  grid.Check();
  std::vector<int64_t> places;
  if (!PlacesOf(grid, places)) {
    return false;
  }
  const size_t width = columns_.size();
  const double* numbers = grid.cells.data();
  std::vector<double> ordered;
  if (!places.empty()) {
    ordered.reserve(static_cast<size_t>(grid.rows) * width);
    for (int64_t row = 0; row < grid.rows; ++row) {
      for (const int64_t place : places) {
        ordered.push_back(grid.cells[static_cast<size_t>(row * grid.columns + place)]);
      }
    }
    numbers = ordered.data();
  }
  encoded.features = Matrix(grid.rows, model_.network.inputs(), predictor_.dtype());
  for (int64_t row = 0; row < grid.rows; ++row) {
    const double* from = numbers + static_cast<size_t>(row) * width;
    bool near = true;
    for (size_t c = 0; c < width; ++c) {
      near &= from[c] >= near_[c].low && from[c] <= near_[c].high;
    }
    void* to = RowOf(encoded.features, row);
    if (!near || (predictor_.dtype() == DType::kF64 ? encoder_->Encode(from, static_cast<double*>(to))
                                                    : encoder_->Encode(from, static_cast<float*>(to))) >= 0) {
      return false;
    }
    encoded.rows.push_back(row);
  }
  encoded.asked = grid.rows;
  if (drift != nullptr) {
    drift->CountNumbers(model_.profile, numbers, grid.rows);
  }
  return true;
}

Table ServedModel::TableOf(const CellGrid& grid) const {
  Table table;
  table.source = kRequest;
  table.rows = grid.rows;
  table.has_names = !grid.names.empty() || grid.columns == std::ssize(columns_);
  for (int64_t index = 0; index < grid.columns; ++index) {
    Column& column = table.columns.emplace_back();
    column.name = !grid.names.empty() ? grid.names[static_cast<size_t>(index)]
                  : table.has_names   ? columns_[static_cast<size_t>(index)].name
                                      : fmt::format("c{}", index);
    FillColumn(grid, index, column);
  }
  return table;
}

EncodedRows ServedModel::EncodeTable(Table table, DriftCounts* drift) const {
  if (table.rows == 0) {
    throw Error(ErrorCode::kBadData, "there are no rows", {.file = table.source});
  }
  const Preprocessor& preprocessor = model_.preprocessor;
  preprocessor.Prepare(table);
  const BoundTable bound(preprocessor, table);
  EncodedRows encoded;
  const std::vector<int64_t> all = AllRowsOf(table);
  encoded.asked = table.rows;
  encoded.file = DecisionsOnFile(table);
  Dataset inputs = bound.EncodeInputs(all, predictor_.dtype(), &encoded.report);
  encoded.left_out = LeftOutOf(bound, all, inputs.rows, /*with_targets=*/false);
  encoded.features = std::move(inputs.features);
  encoded.rows = std::move(inputs.rows);
  if (drift != nullptr) {
    drift->CountTable(model_.profile, bound, all);
  }
  return encoded;
}

EncodedRows ServedModel::Encode(const CellGrid& grid, DriftCounts* drift) const {
  grid.Check();
  ReadOptions options;
  model_.preprocessor.AddTo(options);
  options.parts = 1;
  Table table = TableOf(grid);
  ReadAsCells(table, options);
  return EncodeTable(std::move(table), drift);
}

EncodedRows ServedModel::EncodeCsv(std::string text, DriftCounts* drift) const {
  ReadOptions options;
  model_.preprocessor.AddTo(options);
  options.parts = 1;
  return EncodeTable(ReadCsv(std::move(text), kRequest, options), drift);
}

const std::string& ServedModel::Page() const {
  std::call_once(page_made_, [this] { page_ = ToHtml(model_); });
  return page_;
}

}  // namespace lamina::serve
