// Loops of HostElementwise that single rows (model/predictor.cc) are answered with, too.
#pragma once

#include <array>
#include <cstdint>

#include "lamina/backend/elementwise.h"
#include "lamina/backend/host_parts.h"

namespace lamina {

template <class Fn>
void Combine(ConstMatrixView a, ConstMatrixView b, MatrixView to, const Fn& fn) {
  DispatchFloat(to.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < to.rows; ++i) {
      const T* left = a.Row<T>(i);
      const T* right = b.Row<T>(i);
      T* result = to.Row<T>(i);
      for (int64_t j = 0; j < to.cols; ++j) {
        result[j] = fn(left[j], right[j]);
      }
    }
  });
}

inline void AddElements(ConstMatrixView a, ConstMatrixView b, MatrixView to) {
  Combine(a, b, to, [](auto left, auto right) { return left + right; });
}

// 1 / radius of the columns of a piece: multiplying takes a third of the time of dividing.
template <class T>
std::array<T, HostParts::kColumns> Inverses(const T* radii, int64_t count) {
  std::array<T, HostParts::kColumns> inverses;
  for (int64_t j = 0; j < count; ++j) {
    inverses[static_cast<size_t>(j)] = T(1) / radii[j];
  }
  return inverses;
}

// Columns [begin, begin + count).
template <class T>
void RadiusForwardColumns(const RadiusForwardArgs& args, int64_t begin, int64_t count) {
  const auto inverses = Inverses(static_cast<const T*>(args.radii) + begin, count);
  for (int64_t i = 0; i < args.a.rows; ++i) {
    const T* distance = args.distance.Row<T>(i) + begin;
    T* a = args.a.Row<T>(i) + begin;
    T* u = args.u.empty() ? a : args.u.Row<T>(i) + begin;
    for (int64_t j = 0; j < count; ++j) {
      u[j] = distance[j] * inverses[static_cast<size_t>(j)];
    }
    args.activation->Value(u, a, count);
  }
}

inline void DivideByRadii(const HostParts& parts, const RadiusForwardArgs& args) {
  DispatchFloat(args.a.dtype, [&]<class T>(T) {
    parts.ForColumns(args.a.rows, args.a.cols,
                     [&](int64_t begin, int64_t count) { RadiusForwardColumns<T>(args, begin, count); });
  });
}

}  // namespace lamina
