// Rows of plain numbers to the inputs of a network, one at a time and without allocation: what BoundTable::Encode
// does to a table, for programs that have no table.
#pragma once

#include <cstdint>
#include <vector>

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
  int64_t columns() const { return static_cast<int64_t>(offsets_.size()); }
  /// row: columns() raw numbers, NaN is a missing one; out: as many inputs, with the bits of BoundTable::Encode.
  /// Returns -1, or the first column whose number is missing without a value to put there, or too large.
  int64_t Encode(const double* row, float* out) const noexcept { return EncodeTo(row, out); }
  int64_t Encode(const double* row, double* out) const noexcept { return EncodeTo(row, out); }

 private:
  template <class T>
  int64_t EncodeTo(const double* row, T* out) const noexcept;
  template <bool kLogarithms, class T>
  bool EncodeAll(const double* row, T* out) const noexcept;

  // The scalings of the columns, part by part for vector loops.
  std::vector<char> logarithms_;
  std::vector<double> offsets_;
  std::vector<double> scales_;
  std::vector<double> fills_;  // NaN: a missing number is an error
  bool any_logarithm_ = false;
};

}  // namespace lamina
