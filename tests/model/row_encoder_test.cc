// Rows of numbers are encoded to the bits of the table, whatever the scaling.
#include "lamina/model/row_encoder.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "lamina/base/random.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/settings_text.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

// Over six decades, of both signs; some are missing.
Table Decades(int64_t rows, int64_t columns, bool gaps) {
  Random random(5);
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  for (int64_t j = 0; j <= columns; ++j) {
    names.push_back("x" + std::to_string(j));
    values.emplace_back();
    for (int64_t i = 0; i < rows; ++i) {
      const double size = std::exp(random.Uniform(-3, 11));
      const bool gap = gaps && j < columns && (i + j) % 7 == 3;
      values.back().push_back(gap ? std::numeric_limits<double>::quiet_NaN() : i % 3 == 0 ? -size : size);
    }
  }
  return NumberTable(names, values);
}

TEST(RowEncoder, HasTheBitsOfTheTable) {
  for (const std::string& scale : SettingChoices("scale")) {
    for (const bool gaps : {false, true}) {
      for (const DType dtype : {DType::kF32, DType::kF64}) {
        SCOPED_TRACE(scale + (gaps ? " with gaps in " : " in ") + std::string(DTypeName(dtype)));
        const Table table = Decades(40, 19, gaps);
        TrainSettings settings;
        settings.scale = scale;
        settings.task = "regression";
        settings.missing = gaps ? "mean" : "error";
        const Preprocessor fitted = Preprocessor::Fit(table, RowsOf(table), PreprocessOptionsFrom(Resolve(settings)));
        const Dataset expected = BoundTable(fitted, table).EncodeInputs(RowsOf(table), dtype);
        const RowEncoder encoder(fitted);
        ASSERT_EQ(encoder.columns(), 19);
        DispatchFloat(dtype, [&]<class T>(T) {
          std::vector<T> encoded(19);
          for (int64_t i = 0; i < table.rows; ++i) {
            std::vector<double> row;
            for (size_t j = 0; j < 19; ++j) {
              row.push_back(table.columns[j].Number(i));
            }
            ASSERT_EQ(encoder.Encode(row.data(), encoded.data()), -1);
            ASSERT_EQ(std::memcmp(encoded.data(), expected.features.Row<T>(i), 19 * sizeof(T)), 0) << "row " << i;
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace lamina
