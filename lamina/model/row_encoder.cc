// Encoding rows of numbers.
#include "lamina/model/row_encoder.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/base/nan.h"

namespace lamina {
namespace {

const cpu::RowTable& KernelsOfRows() {
  cpu::ApplyInstructionSets();
  return cpu::RowKernels();
}

}  // namespace

Verdict RowEncoder::Accepts(const Preprocessor& preprocessor) {
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    if (column.kind == ColumnKind::kText) {
      return Verdict::No(
          fmt::format("the model takes text in column '{}': rows of plain numbers do not serve it", column.name));
    }
  }
  return Verdict::Yes();
}

[[gnu::cold]] RowEncoder::RowEncoder(const Preprocessor& preprocessor) : kernels_(KernelsOfRows()) {
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
    reciprocals_.push_back(1 / column.scaling.scale);
    fills_.push_back(fills ? column.fill : kNaN);
    linear_ = linear_ && column.width() == 1 && parts_.back().scaling.IsLinear() &&
              column.scaling.scale >= cpu::RowStandard::kLeastScale &&
              column.scaling.scale <= cpu::RowStandard::kMostScale;
  }
}

// Whether all results are finite.
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
  const auto standardize = [&] {
    const cpu::RowStandard standard{offsets_.data(), scales_.data(), reciprocals_.data(), fills_.data(), columns()};
    if constexpr (sizeof(T) == sizeof(double)) {
      return kernels_.standardize_f64(standard, row, out);
    } else {
      return kernels_.standardize_f32(standard, row, out);
    }
  };
  if ((linear_ && standardize()) || EncodeParts(row, out)) {
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
