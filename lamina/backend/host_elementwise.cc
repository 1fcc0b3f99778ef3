// Loops over elements, rows and columns.
#include "lamina/backend/host_elementwise.h"

#include <array>
#include <cmath>
#include <cstring>

#include "lamina/backend/elementwise_loops.h"
#include "lamina/backend/normalization.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

// Every sum in the order of the samples, so the same bits on any number of threads.
template <class T>
void RadiusBackwardColumns(const RadiusBackwardArgs& args, int64_t begin, int64_t count) {
  T* radii = static_cast<T*>(args.radii.value) + begin;
  T* gradient = static_cast<T*>(args.radii.gradient) + begin;
  const auto inverses = Inverses<T>(radii, count);
  std::array<T, HostParts::kColumns> sums{};
  for (int64_t i = 0; i < args.delta.rows; ++i) {
    T* delta = args.delta.Row<T>(i) + begin;
    const T* u = args.u.Row<T>(i) + begin;
    for (int64_t j = 0; j < count; ++j) {
      delta[j] *= inverses[static_cast<size_t>(j)];
      sums[static_cast<size_t>(j)] -= delta[j] * u[j];
    }
  }
  std::copy_n(sums.data(), count, gradient);
  if (args.rule == nullptr) {
    return;
  }
  UpdateArrays<T>(*args.rule, /*decay=*/false, args.radii, begin, begin + count);
  const T smallest = static_cast<T>(args.smallest_radius);
  for (int64_t j = 0; j < count; ++j) {
    radii[j] = radii[j] < smallest ? smallest : radii[j];  // a NaN stays
  }
}

}  // namespace

void HostElementwise::Fill(MatrixView to, double value) const noexcept {
  DispatchFloat(to.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < to.rows; ++i) {
      std::fill_n(to.Row<T>(i), to.cols, static_cast<T>(value));
    }
  });
}

void HostElementwise::Repeat(ConstMatrixView from, int64_t times, MatrixView to) const noexcept {
  const auto row_bytes = static_cast<size_t>(from.cols * DTypeSize_bytes(from.dtype));
  for (int64_t i = 0; i < times * from.rows; ++i) {
    std::memcpy(to.Rows(i, 1).data, from.Rows(i % from.rows, 1).data, row_bytes);
  }
}

void HostElementwise::Multiply(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept {
  Combine(a, b, to, [](auto left, auto right) { return left * right; });
}

void HostElementwise::Add(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept { AddElements(a, b, to); }

void HostElementwise::MultiplySlope(const Activation& activation, ConstMatrixView z, ConstMatrixView a,
                                    MatrixView delta) const noexcept {
  DispatchFloat(delta.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < delta.rows; ++i) {
      activation.MultiplySlope(z.empty() ? nullptr : z.Row<T>(i), a.Row<T>(i), delta.Row<T>(i), delta.cols);
    }
  });
}

void HostElementwise::ScaleColumns(ConstMatrixView from, const void* scale, MatrixView to) const noexcept {
  DispatchFloat(to.dtype, [&]<class T>(T) {
    const T* s = static_cast<const T*>(scale);
    for (int64_t i = 0; i < from.rows; ++i) {
      const T* x = from.Row<T>(i);
      T* scaled = to.Row<T>(i);
      for (int64_t j = 0; j < from.cols; ++j) {
        scaled[j] = x[j] * s[j];
      }
    }
  });
}

void HostElementwise::ColumnProducts(ConstMatrixView a, ConstMatrixView b, void* sums) const noexcept {
  DispatchFloat(a.dtype, [&]<class T>(T) {
    T* sum = static_cast<T*>(sums);
    std::fill_n(sum, a.cols, T(0));
    for (int64_t i = 0; i < a.rows; ++i) {
      const T* left = a.Row<T>(i);
      const T* right = b.Row<T>(i);
      for (int64_t j = 0; j < a.cols; ++j) {
        sum[j] += left[j] * right[j];
      }
    }
  });
}

void HostElementwise::MeanOfBlocks(ConstMatrixView from, int64_t blocks, MatrixView to) const noexcept {
  Fill(to, 0);
  DispatchFloat(to.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < blocks * to.rows; ++i) {
      const T* row = from.Row<T>(i);
      T* sum = to.Row<T>(i % to.rows);
      for (int64_t j = 0; j < to.cols; ++j) {
        sum[j] += row[j];
      }
    }
    for (int64_t i = 0; i < to.rows; ++i) {
      T* mean = to.Row<T>(i);
      for (int64_t j = 0; j < to.cols; ++j) {
        mean[j] /= static_cast<T>(blocks);
      }
    }
  });
}

// Column by column, so that one number is to be kept.
void HostElementwise::MixRows(double share, MatrixView rows) const noexcept {
  DispatchFloat(rows.dtype, [&]<class T>(T) {
    const T own = static_cast<T>(share);
    const T rest = static_cast<T>(1 - share);
    for (int64_t j = 0; j < rows.cols; ++j) {
      const T first = rows.Row<T>(0)[j];
      for (int64_t i = 0; i < rows.rows; ++i) {
        const T next = i + 1 < rows.rows ? rows.Row<T>(i + 1)[j] : first;
        rows.Row<T>(i)[j] = own * rows.Row<T>(i)[j] + rest * next;
      }
    }
  });
}

void HostElementwise::DropoutMask(double dropout, uint64_t seed, uint64_t stream, MatrixView mask) const noexcept {
  const uint64_t below = DroppedBelow(dropout);
  DispatchFloat(mask.dtype, [&]<class T>(T) {
    Random random(seed, stream);
    const T kept = static_cast<T>(1.0 / (1.0 - dropout));
    T* to = static_cast<T*>(mask.data);
    const int64_t count = mask.rows * mask.cols;
    for (int64_t n = 0; n < count; n += 2) {
      const uint64_t bits = random.Next();
      to[n] = (bits & 0xFFFFFFFFU) < below ? T(0) : kept;
      if (n + 1 < count) {
        to[n + 1] = (bits >> 32) < below ? T(0) : kept;
      }
    }
  });
}

void HostElementwise::KeepZeros(ConstMatrixView parameters, MatrixView gradient) const noexcept {
  DispatchFloat(gradient.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < gradient.rows; ++i) {
      const T* w = parameters.Row<T>(i);
      T* g = gradient.Row<T>(i);
      for (int64_t j = 0; j < gradient.cols; ++j) {
        g[j] = w[j] == T(0) ? T(0) : g[j];
      }
    }
  });
}

void HostElementwise::RadiusForward(const RadiusForwardArgs& args) const noexcept { DivideByRadii(parts_, args); }

void HostElementwise::RadiusBackward(const RadiusBackwardArgs& args) const noexcept {
  DispatchFloat(args.delta.dtype, [&]<class T>(T) {
    parts_.ForColumns(args.delta.rows, args.delta.cols,
                      [&](int64_t begin, int64_t count) { RadiusBackwardColumns<T>(args, begin, count); });
  });
}

void HostElementwise::NormalizeForward(const NormalizeForwardArgs& args) const noexcept {
  parts_.ForColumns(args.z.rows, args.z.cols,
                    [&](int64_t begin, int64_t count) { NormalizeForwardColumns(args, begin, count); });
}

void HostElementwise::NormalizeBackward(const NormalizeBackwardArgs& args) const noexcept {
  parts_.ForColumns(args.delta.rows, args.delta.cols,
                    [&](int64_t begin, int64_t count) { NormalizeBackwardColumns(args, begin, count); });
}

void HostElementwise::FoldNormalization(const NormalizationArrays& arrays, MatrixView weights,
                                        void* bias) const noexcept {
  DispatchFloat(weights.dtype, [&]<class T>(T) {
    const auto at = [](void* array, int64_t j) { return static_cast<double>(static_cast<const T*>(array)[j]); };
    for (int64_t j = 0; j < weights.rows; ++j) {
      const double factor = at(arrays.gamma, j) / std::sqrt(at(arrays.variance, j) + kVarianceEpsilon);
      T* row = weights.Row<T>(j);
      for (int64_t i = 0; i < weights.cols; ++i) {
        row[i] = static_cast<T>(factor * static_cast<double>(row[i]));
      }
      static_cast<T*>(bias)[j] = static_cast<T>(at(arrays.beta, j) - factor * at(arrays.mean, j));
    }
  });
}

}  // namespace lamina
