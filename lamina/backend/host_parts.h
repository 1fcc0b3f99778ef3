// Loops of the CPU backends beside layers, cut for their threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lamina/base/openmp.h"
#include "lamina/base/team.h"

namespace lamina {

/// Whose threads compute: those of base/team.h, or OpenMP's where a library that uses them alternates with ours. Two
/// kinds would take the cores from each other while they wait.
enum class HostThreads { kTeam, kOpenMP };

struct HostParts {
  int threads = 1;
  HostThreads kind = HostThreads::kTeam;

  static constexpr int64_t kParallelElements = 16384;  // below, waking a second thread costs more than it brings
  static constexpr int64_t kColumns = 64;              // of one piece of work, at most: whole cache lines

  /// fn(begin, end) for parts of [0, count), on all threads where so many elements are worth it.
  template <class Fn>
  void ForParts(int64_t count, int64_t elements, const Fn& fn) const noexcept {
    if (threads == 1 || elements < kParallelElements) {
      fn(int64_t{0}, count);
    } else if (kind == HostThreads::kTeam) {
      RunParts(threads, count, fn);
    } else {
#pragma omp parallel num_threads(threads)
      {
        const int64_t thread = omp_get_thread_num();
        const int64_t size = omp_get_num_threads();
        fn(count * thread / size, count * (thread + 1) / size);
      }
    }
  }

  /// fn(begin, count) for pieces of `cols` columns, kColumns each at most.
  template <class Fn>
  void ForColumns(int64_t rows, int64_t cols, const Fn& fn) const noexcept {
    ForParts((cols + kColumns - 1) / kColumns, rows * cols, [&](int64_t begin, int64_t end) {
      for (int64_t column = begin * kColumns; column < std::min(cols, end * kColumns); column += kColumns) {
        fn(column, std::min(kColumns, cols - column));
      }
    });
  }
};

}  // namespace lamina
