// What the 2017 paper printed, for the columns beside ours.
#pragma once

#include <array>
#include <cstdint>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Tables I (GeForce 820M, speed-up over Numba's @jit) and II (GTX 750, seconds of RBF, MUL): the best B of each M.
struct PaperSweepRow {
  int64_t m;
  const char* best_speedup;
  const char* best_seconds;
};
inline constexpr std::array<PaperSweepRow, 7> kPaperSweep{{{4096, "", "2, 1.23 (B 512)"},
                                                           {2048, "71 (B 128)", "0.7, 0.46 (B 64)"},
                                                           {1024, "40 (B 64)", "0.31, 0.26 (B 64)"},
                                                           {512, "18 (B 32)", "0.22, 0.18 (B 16)"},
                                                           {256, "5.5 (B 32)", ""},
                                                           {128, "1.42 (B 16)", ""},
                                                           {64, "1.28 (B 16)", ""}}};

struct PaperTable3Row {
  int64_t m;
  int64_t n;
  double seconds;
  double t_syn_ns;
};
inline constexpr std::array<PaperTable3Row, 8> kPaperTable3{{{4096, 16, 0.43, 1.60},
                                                             {4096, 64, 0.54, 0.5},
                                                             {4096, 256, 0.93, 0.22},
                                                             {4096, 784, 1.95, 0.15},
                                                             {4096, 1024, 2.36, 0.14},
                                                             {2048, 4096, 2.3, 0.133},
                                                             {1024, 16384, 2.23, 0.13},
                                                             {512, 65536, 2.31, 0.134}}};

/// t_syn_ns 0: not in the paper.
struct PaperTable4Row {
  DType dtype;
  double t_syn_ns;
};
inline constexpr std::array<PaperTable4Row, 9> kPaperTable4{{{DType::kF16, 17.8},
                                                             {DType::kBF16, 0},
                                                             {DType::kF32, 0.094},
                                                             {DType::kF64, 0.43},
                                                             {DType::kI8, 0},
                                                             {DType::kU8, 0},
                                                             {DType::kI16, 7.86},
                                                             {DType::kI32, 7.98},
                                                             {DType::kI64, 8.6}}};

struct PaperTable5Row {
  const char* platform;
  double f32_ns;
  double f64_ns;
  double speedup;
};
inline constexpr std::array<PaperTable5Row, 4> kPaperTable5{{{"paper: GTX-750 with NUMBA", 0, 0.13, 35},
                                                             {"paper: CPU, Intel MKL under NUMPY", 0.33, 0, 14},
                                                             {"paper: CPU, .MEX compiled with gcc", 0, 4.6, 1},
                                                             {"paper: CPU, JIT of NUMBA", 0, 46, 0.1}}};

}  // namespace lamina
