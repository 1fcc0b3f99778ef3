// Rows, encoded, to the scales of a network.
#include "lamina/model/c_source/int8_rows.h"

#include <memory>
#include <utility>
#include <vector>

#include "lamina/model/c_source/c_int8.h"
#include "lamina/model/c_source/c_rows.h"
#include "lamina/model/int8_network.h"

namespace lamina {

Model WithInt8(Model model, const Table* table) {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kMadeUp = 256;
  RequireOneNetwork(model);
  const CColumns columns = CColumnsOf(model, "m");
  std::vector<CRow> rows =
      table == nullptr ? TypicalRows(model, columns, kMadeUp) : RowsOfTable(columns, *table, kRows);
  const Matrix features = EncodedRows(model, columns, rows);
  model.int8 = std::make_shared<const Int8Network>(MakeInt8Network(model.network, features));
  return model;
}

}  // namespace lamina
