// What kernel machines that are searched for and those that are solved for have in common.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lamina/base/buffer.h"
#include "lamina/base/team.h"
#include "lamina/rbf/cholesky.h"

namespace lamina {

inline constexpr double kFirstJitter = 1e-10;
/// From here on systems that leave no row out are solved in f32 and refined.
inline constexpr int64_t kRefinedRows = 2000;

/// fn(p) for each panel of a triangle. They differ in length, and are shared out in turn.
template <class Fn>
void EachPanel(int threads, int64_t rows, const Fn& fn) {
  const int64_t panels = PanelsOf(rows);
  RunTeam(static_cast<int>(std::clamp<int64_t>(panels, 1, threads)), [&](Team team) {
    for (int64_t p = team.thread; p < panels; p += team.size) {
      fn(p);
    }
  });
}

/// Column by column, at c * stride + i.
inline void TurnTargets(ConstMatrixView y, int64_t stride, double* out) {
  for (int64_t i = 0; i < y.rows; ++i) {
    for (int64_t c = 0; c < y.cols; ++c) {
      out[c * stride + i] = y.Row<double>(i)[c];
    }
  }
}

}  // namespace lamina
