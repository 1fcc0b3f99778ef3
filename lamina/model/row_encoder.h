// Rows of plain numbers to the inputs of a network, one at a time and without allocation. It does what
// BoundTable::Encode does to a table, for programs that have none.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/backend/cpu/row_kernels.h"
#include "lamina/base/error.h"
#include "lamina/data/encode/preprocessor.h"

namespace lamina {

/// Immutable: any number of threads at once.
class RowEncoder {
 public:
  /// Why rows of numbers do not serve the model: an input column of text.
  static Verdict Accepts(const Preprocessor& preprocessor);
  /// Throws Error(kUnsupported) where Accepts() says no.
  explicit RowEncoder(const Preprocessor& preprocessor);

  /// Numbers in a row: one for every input column, in the order of training.
  int64_t columns() const { return static_cast<int64_t>(fills_.size()); }
  /// row: columns() raw numbers, NaN is a missing one; out: the network's inputs, with the bits of BoundTable::Encode.
  /// Returns -1, or the first column whose number is missing without a value to put there, or too large.
  int64_t Encode(const double* row, float* out) const noexcept { return EncodeTo(row, out); }
  int64_t Encode(const double* row, double* out) const noexcept { return EncodeTo(row, out); }

 private:
  template <class T>
  int64_t EncodeTo(const double* row, T* out) const noexcept;
  template <class T>
  bool EncodeParts(const double* row, T* out) const noexcept;

  // One input.
  struct Part {
    int64_t column = 0;
    ColumnScaling scaling;
    bool indicates_missing = false;
  };

  std::vector<Part> parts_;
  // Where every column is one input without a curve: their scalings, part by part for vectors.
  bool linear_ = true;
  std::vector<double> offsets_;
  std::vector<double> scales_;
  std::vector<double> reciprocals_;
  std::vector<double> fills_;  // of the columns; NaN: a missing number is an error
  const cpu::RowTable& kernels_;
};

}  // namespace lamina
