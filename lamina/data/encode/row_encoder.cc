// Encoding rows of numbers.
#include "lamina/data/encode/row_encoder.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lamina/base/nan.h"

namespace lamina {

Verdict RowEncoder::Accepts(const Preprocessor& preprocessor) {
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    if (column.kind == ColumnKind::kText) {
      return Verdict::No(
          fmt::format("the model takes text in column '{}': rows of plain numbers do not serve it", column.name));
    }
  }
  return Verdict::Yes();
}

RowEncoder::RowEncoder(const Preprocessor& preprocessor) {
  if (const Verdict verdict = Accepts(preprocessor); !verdict) {
    throw Error(ErrorCode::kUnsupported, verdict.reason, {.remedy = "Encode tables with BoundTable::EncodeInputs."});
  }
  const bool fills = preprocessor.policies().missing == MissingPolicy::kMean;
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    logarithms_.push_back(column.scaling.logarithm ? 1 : 0);
    offsets_.push_back(column.scaling.offset);
    scales_.push_back(column.scaling.scale);
    fills_.push_back(fills ? column.fill : kNaN);
    any_logarithm_ = any_logarithm_ || column.scaling.logarithm;
  }
}

// Whether all results are finite. Without logarithms one vector loop: nothing in it depends on the column.
template <bool kLogarithms, class T>
bool RowEncoder::EncodeAll(const double* row, T* out) const noexcept {
  const int64_t count = columns();
  const char* logarithm = logarithms_.data();
  const double* offset = offsets_.data();
  const double* scale = scales_.data();
  const double* fill = fills_.data();
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    const double value = row[i] == row[i] ? row[i] : fill[i];
    const ColumnScaling scaling{kLogarithms && logarithm[i] != 0, offset[i], scale[i]};
    const T encoded = static_cast<T>(scaling.Encode(value));
    good &= std::abs(encoded) <= std::numeric_limits<T>::max();  // false for NaN, too
    out[i] = encoded;
  }
  return good;
}

template <class T>
int64_t RowEncoder::EncodeTo(const double* row, T* out) const noexcept {
  if (any_logarithm_ ? EncodeAll<true>(row, out) : EncodeAll<false>(row, out)) {
    return -1;
  }
  for (int64_t i = 0; i < columns(); ++i) {
    if (!(std::abs(out[i]) <= std::numeric_limits<T>::max())) {
      return i;
    }
  }
  return -1;
}

template int64_t RowEncoder::EncodeTo(const double* row, float* out) const noexcept;
template int64_t RowEncoder::EncodeTo(const double* row, double* out) const noexcept;

}  // namespace lamina
