// What the emulation of a block keeps of each thread, each warp and each barrier of shared memory.
#pragma once

#undef _FORTIFY_SOURCE  // its longjmp only goes up the same stack
#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tests/cuda/emulator.h"

namespace lamina::emulator {

inline constexpr size_t kStack_bytes = 256 * 1024;
inline constexpr int kWarpSize = 32;

struct Copy {
  void* to;
  const void* from;
  int bytes;
  int valid_bytes;
};

inline void Perform(const Copy& copy) {
  std::memset(copy.to, 0, static_cast<size_t>(copy.bytes));
  if (copy.valid_bytes > 0) {
    std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.valid_bytes));
  }
}

// Two rounds of values: a lane reads one while others may already write the next.
struct Warp {
  std::byte values[2][kWarpSize][kMostExchanged_bytes] = {};
  int arrived[2] = {0, 0};
};

// A barrier of shared memory.
struct PhaseBarrier {
  int arrivals = 0;   // a phase
  int pending = 0;    // of this phase
  int64_t bytes = 0;  // announced and not there
  int64_t ended = 0;  // phases
  int number = 0;     // of the block's barriers
};

// A copy by the hardware: what is left to do after some rounds.
struct Later {
  int rounds;
  std::function<void()> work;
};

struct Fiber {
  ucontext_t context;
  jmp_buf resume;
  void* fake_stack = nullptr;  // AddressSanitizer's
  bool started = false;
  std::unique_ptr<char[]> stack{new char[kStack_bytes]};
  Position position;
  bool finished = false;
  bool at_barrier = false;
  bool fenced = false;  // since its last barrier
  int shuffles = 0;
  std::vector<Copy> open;                       // not committed
  std::deque<std::vector<Copy>> groups;         // committed, not done
  std::vector<std::function<void()>> products;  // started since none was under way
  size_t done_products = 0;
  std::deque<size_t> committed_products;  // up to which, each commit that is not done
  bool may_start_products = false;
  bool counted = false;  // in Block::published_, since the last barrier
  int at_cluster = 0;    // barriers of its cluster that it came to
  int registers = 0;
};

}  // namespace lamina::emulator
