// Rows, encoded, to the scales of a network.
#include "lamina/model/c_source/int8_rows.h"

#include <memory>
#include <utility>
#include <vector>

#include "lamina/model/c_source/c_int8.h"
#include "lamina/model/c_source/c_rows.h"
#include "lamina/model/int8_rounding.h"

namespace lamina {

Matrix MadeUpInputs(const Model& model) {
  constexpr int64_t kMadeUp = 256;
  RequireOneNetwork(model);
  const CColumns columns = CColumnsOf(model, "m");
  std::vector<CRow> rows = TypicalRows(model, columns, kMadeUp);
  return EncodedRows(model, columns, rows);
}

Model WithInt8(Model model, const Table* table) {
  Int8Ranges ranges;
  if (model.int8_ranges) {
    RequireOneNetwork(model);
    ranges = *model.int8_ranges;
  } else if (const Matrix bounds = MadeUpInputs(model); table == nullptr) {
    ranges = MeasureForInt8(model.network, bounds, bounds);
  } else {
    const CColumns columns = CColumnsOf(model, "m");
    std::vector<CRow> rows = RowsOfTable(columns, *table, kMostInt8Rows);
    ranges = MeasureForInt8(model.network, EncodedRows(model, columns, rows), bounds);
  }
  model.int8 = std::make_shared<const Int8Network>(RoundToInt8(model.network, ranges).network);
  return model;
}

}  // namespace lamina
