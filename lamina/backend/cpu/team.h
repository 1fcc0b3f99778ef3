// The threads that compute a layer together.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "lamina/neuron/problem.h"

namespace lamina::cpu {

/// One thread of those that run a task together; all of them call the same entry point.
struct Team {
  int thread = 0;
  int size = 1;

  void Barrier() const noexcept {
    if (size > 1) {
#pragma omp barrier
    }
  }
  /// This thread's part of [0, count).
  int64_t Begin(int64_t count) const { return count * thread / size; }
  int64_t End(int64_t count) const { return count * (thread + 1) / size; }
};

template <class Fn>
void RunTeam(int threads, const Fn& fn) noexcept {
  if (threads == 1) {
    fn(Team{});
    return;
  }
#pragma omp parallel num_threads(threads)
  fn(Team{omp_get_thread_num(), omp_get_num_threads()});
}

// Multiply-adds a thread must have. A second thread gains from 64 K on (10 x 1024 x 16 samples: 1.9 to 1.4
// us), but where the cores are shared with other programs, each parallel region may wait a time slice of 8 ms
// for its partner.
inline constexpr int64_t kWorkPerThread = 128 * 1024;

inline int ThreadsFor(int64_t batch, const LayerSpec& layer, int threads) {
  const int64_t work = std::max<int64_t>(1, batch) * layer.weight_count();
  return static_cast<int>(std::clamp<int64_t>(work / kWorkPerThread, 1, threads));
}

}  // namespace lamina::cpu
