// A model that is loaded to answer requests: any number of threads read it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/model/answer.h"
#include "lamina/model/cell_rows.h"
#include "lamina/model/model.h"
#include "lamina/model/predictor.h"
#include "lamina/model/row_encoder.h"
#include "lamina/serve/cell_grid.h"
#include "lamina/serve/drift_counts.h"

namespace lamina::serve {

/// The rows of a request, encoded.
struct EncodedRows {
  Matrix features;            // those that can be answered × inputs
  std::vector<int64_t> rows;  // of those asked for: where each stands
  int64_t asked = 0;
  EncodeReport report;
  LeftOut left_out;
  std::vector<ColumnDecision> file;
};

class ServedModel {
 public:
  /// Throws Error(kBadModel) for a network that is not fed from raw rows. `version`: 1 for the first that has this
  /// name.
  ServedModel(std::string name, Model model, int64_t version);

  const std::string& name() const { return name_; }
  const Model& model() const { return model_; }
  int64_t version() const { return version_; }
  const RowPredictor& predictor() const { return predictor_; }
  /// What a row is made of.
  const std::vector<CellColumn>& columns() const { return columns_; }
  bool classifies() const { return model_.preprocessor.targets().task() == Task::kClassification; }
  /// Whether every column is a number or a date.
  bool takes_numbers() const { return encoder_.has_value(); }
  /// Answers have all the digits of a double; else those of a float.
  bool exact() const { return model_.network.dtype() == DType::kF64; }

  /// `read(grid)` reads the request; of numbers alone first, and once more with their texts where that is not enough.
  /// Cells are read as those of a file. Rows are counted in `drift`. Throws Error in the words of the program.
  template <class Read>
  EncodedRows EncodeRequest(DriftCounts* drift, const Read& read) const {
    if (takes_numbers()) {
      try {
        NumberGrid grid;
        read(grid);
        EncodedRows encoded;
        if (EncodePlain(grid, drift, encoded)) {
          return encoded;
        }
      } catch (const NotPlain&) {
      }
    }
    CellGrid grid;
    read(grid);
    return Encode(grid, drift);
  }
  /// The same of a grid that was read.
  EncodedRows Encode(const CellGrid& grid, DriftCounts* drift) const;
  /// The same of the text of a CSV file.
  EncodedRows EncodeCsv(std::string text, DriftCounts* drift) const;

  /// The page of `export --html`, made when it is first asked for.
  const std::string& Page() const;

 private:
  bool EncodePlain(const NumberGrid& grid, DriftCounts* drift, EncodedRows& encoded) const;
  bool PlacesOf(const NumberGrid& grid, std::vector<int64_t>& places) const;
  Table TableOf(const CellGrid& grid) const;
  EncodedRows EncodeTable(Table table, DriftCounts* drift) const;

  std::string name_;
  Model model_;
  int64_t version_;
  RowPredictor predictor_;
  std::vector<CellColumn> columns_;
  std::optional<RowEncoder> encoder_;  // of rows of numbers that need no remark
  std::vector<NumberSpan> near_;
  mutable std::once_flag page_made_;
  mutable std::string page_;
};

}  // namespace lamina::serve
