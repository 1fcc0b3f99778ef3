// Rows, encoded, to the scales of a network.
#include "lamina/model/c_source/int8_rows.h"

#include <memory>
#include <utility>
#include <vector>

#include "lamina/model/c_source/c_int8.h"
#include "lamina/model/c_source/c_rows.h"
#include "lamina/model/int8_rounding.h"

namespace lamina {

Model WithInt8(Model model, const Table* table) {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kMadeUp = 256;
  RequireOneNetwork(model);
  const CColumns columns = CColumnsOf(model, "m");
  std::vector<CRow> made_up = TypicalRows(model, columns, kMadeUp);
  const Matrix bounds = EncodedRows(model, columns, made_up);
  if (table == nullptr) {
    model.int8 = std::make_shared<const Int8Network>(MakeInt8Network(model.network, bounds, bounds));
    return model;
  }
  std::vector<CRow> rows = RowsOfTable(columns, *table, kRows);
  const Matrix features = EncodedRows(model, columns, rows);
  model.int8 = std::make_shared<const Int8Network>(MakeInt8Network(model.network, features, bounds));
  return model;
}

}  // namespace lamina
