// Element conversions, one loop for every pair of types.
#include "lamina/base/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lamina {
namespace {

template <class To, class From>
To Converted(From value) {
  if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(AsNumber(value)));
  } else {
    return static_cast<To>(AsNumber(value));
  }
}

}  // namespace

void ConvertMatrix(ConstMatrixView from, MatrixView to) {
  Check(from.rows == to.rows && from.cols == to.cols, "ConvertMatrix: shapes differ");
  DispatchDType(from.dtype, [&]<class From>(From) {
    DispatchDType(to.dtype, [&]<class To>(To) {
      for (int64_t i = 0; i < from.rows; ++i) {
        const From* source = from.Row<From>(i);
        std::transform(source, source + from.cols, to.Row<To>(i), &Converted<To, From>);
      }
    });
  });
}

double LargestMagnitude(ConstMatrixView matrix) {
  if (matrix.empty()) {
    return 0;
  }
  if (matrix.space != Space::kHost) {
    return -1;
  }
  return DispatchDType(matrix.dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      T least = 0;
      T most = 0;
      for (int64_t i = 0; i < matrix.rows; ++i) {
        const T* row = matrix.Row<T>(i);
        for (int64_t k = 0; k < matrix.cols; ++k) {
          least = std::min(least, row[k]);
          most = std::max(most, row[k]);
        }
      }
      const double magnitude = std::max(static_cast<double>(most), -static_cast<double>(least));
      return magnitude > 0x1p53 ? std::nextafter(magnitude, INFINITY) : magnitude;  // it may have been rounded down
    } else {
      double largest = 0;
      for (int64_t i = 0; i < matrix.rows; ++i) {
        const T* row = matrix.Row<T>(i);
        for (int64_t k = 0; k < matrix.cols; ++k) {
          const double magnitude = std::abs(static_cast<double>(AsNumber(row[k])));
          if (std::isnan(magnitude)) {
            return magnitude;
          }
          largest = std::max(largest, magnitude);
        }
      }
      return largest;
    }
  });
}

}  // namespace lamina
