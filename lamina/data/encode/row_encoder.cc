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
  const bool fills = Fills(preprocessor.policies().missing);
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    for (const ColumnScaling& scaling : column.Parts()) {
      parts_.push_back({columns(), scaling});
    }
    if (column.indicates_missing) {
      parts_.push_back({.column = columns(), .indicates_missing = true});
    }
    offsets_.push_back(column.scaling.offset);
    scales_.push_back(column.scaling.scale);
    fills_.push_back(fills ? column.fill : kNaN);
    linear_ = linear_ && column.width() == 1 && parts_.back().scaling.IsLinear();
  }
}

// Whether all results are finite. Nothing in the loop depends on the column: it becomes vectors.
template <class T>
bool RowEncoder::EncodeLinear(const double* row, T* out) const noexcept {
  const int64_t count = columns();
  const double* offset = offsets_.data();
  const double* scale = scales_.data();
  const double* fill = fills_.data();
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    const double value = row[i] == row[i] ? row[i] : fill[i];
    const T encoded = static_cast<T>((value - offset[i]) / scale[i]);
    good &= std::abs(encoded) <= std::numeric_limits<T>::max();  // false for NaN, too
    out[i] = encoded;
  }
  return good;
}

template <class T>
bool RowEncoder::EncodeParts(const double* row, T* out) const noexcept {
  bool good = true;
  for (const Part& part : parts_) {
    const double raw = row[part.column];
    const bool missing = std::isnan(raw);
    const T encoded =
        part.indicates_missing
            ? static_cast<T>(missing ? 1 : 0)
            : static_cast<T>(part.scaling.Encode(missing ? fills_[static_cast<size_t>(part.column)] : raw));
    good &= std::abs(encoded) <= std::numeric_limits<T>::max();
    *out++ = encoded;
  }
  return good;
}

template <class T>
int64_t RowEncoder::EncodeTo(const double* row, T* out) const noexcept {
  if (linear_ ? EncodeLinear(row, out) : EncodeParts(row, out)) {
    return -1;
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!(std::abs(out[i]) <= std::numeric_limits<T>::max())) {
      return parts_[i].column;
    }
  }
  return -1;
}

template int64_t RowEncoder::EncodeTo(const double* row, float* out) const noexcept;
template int64_t RowEncoder::EncodeTo(const double* row, double* out) const noexcept;

}  // namespace lamina
