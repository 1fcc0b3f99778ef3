// Loops of the CPU backends beside layers, cut for their threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lamina/base/team.h"

namespace lamina {

/// What runs regions: RunRegion(), or the same by the threads of a library that computes in turn with these loops. Two
/// sets of threads would take the cores from each other while they wait.
using RegionRunner = void (*)(int threads, void (*function)(void*, Team), void* context) noexcept;

struct HostParts {
  int threads = 1;
  RegionRunner run = RunRegion;

  static constexpr int64_t kParallelElements = 16384;  // below, waking a second thread costs more than it brings
  static constexpr int64_t kColumns = 64;              // of one piece of work, at most: whole cache lines

  /// fn(begin, end) for parts of [0, count), on all threads where so many elements are worth it.
  template <class Fn>
  void ForParts(int64_t count, int64_t elements, const Fn& fn) const noexcept {
    if (threads == 1 || elements < kParallelElements) {
      fn(int64_t{0}, count);
      return;
    }
    const auto part = [&](Team team) { fn(team.Begin(count), team.End(count)); };
    run(
        static_cast<int>(std::clamp<int64_t>(count, 1, threads)),
        [](void* context, Team team) { (*static_cast<decltype(part)*>(context))(team); },
        const_cast<void*>(static_cast<const void*>(&part)));
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
