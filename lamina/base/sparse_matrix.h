// A matrix that is nearly all 0, as a list of its other elements.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "lamina/base/dtype.h"

namespace lamina {

/// A number of an f32 or f64 array, of any alignment.
inline double ReadNumber(DType dtype, const void* from) {
  double number = 0;
  float narrow = 0;
  if (dtype == DType::kF64) {
    std::memcpy(&number, from, sizeof(number));
    return number;
  }
  std::memcpy(&narrow, from, sizeof(narrow));
  return static_cast<double>(narrow);
}

/// The same to an element of such an array, rounded to its type.
inline void WriteNumber(double number, DType dtype, void* to) {
  const auto narrow = static_cast<float>(number);
  dtype == DType::kF64 ? std::memcpy(to, &number, sizeof(number)) : std::memcpy(to, &narrow, sizeof(narrow));
}

struct SparseMatrix {
  struct Element {
    int64_t column = 0;
    double value = 0;  // holds an f32 exactly
  };

  /// Rows come one behind the other: their elements by ascending column, then EndRow(). A 0 is left out; -0.0 is none.
  void Add(int64_t column, double value) {
    if (value != 0 || std::signbit(value)) {
      elements.push_back({column, value});
    }
  }
  void EndRow() { begin.push_back(std::ssize(elements)); }

  int64_t rows() const { return std::ssize(begin) - 1; }
  std::span<const Element> Row(int64_t i) const {
    const int64_t* const first = begin.data() + i;
    return {elements.data() + first[0], static_cast<size_t>(first[1] - first[0])};
  }

  int64_t cols = 0;
  std::vector<int64_t> begin = {0};  // of each row, and the end
  std::vector<Element> elements;
};

}  // namespace lamina
