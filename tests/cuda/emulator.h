// Enough of CUDA C++ to run lamina's kernels on the host: every thread of a block is a fiber, blocks run one after
// another. Catches reads of shared memory that nobody wrote (it starts as NaNs), and missing waits (asynchronous copies
// arrive only then). Catches missing barriers (fibers run in changing order), and barriers that not all reach.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

namespace lamina::emulator {

struct Position {
  dim3 thread, block, block_size, grid;
};

const Position& Here();
void* SharedMemory();
void Barrier();
/// All lanes of the warp that still run pass here; gives every lane the value of lane `from` (its own if out of range).
uint64_t Shuffle(uint64_t value, int from);
/// The same of any few bytes: gives every lane those of all 32 lanes, until the lane's next exchange or shuffle but
/// one.
inline constexpr size_t kMostExchanged_bytes = 32;
const std::byte* ExchangeBytes(const void* own, size_t size_bytes);
template <class T>
struct Exchanged {
  const std::byte* bytes;
  T operator[](unsigned lane) const {
    T value;
    std::memcpy(&value, bytes + lane * kMostExchanged_bytes, sizeof(T));
    return value;
  }
};
template <class T>
Exchanged<T> Exchange(const T& own) {
  static_assert(sizeof(T) <= kMostExchanged_bytes);
  return {ExchangeBytes(&own, sizeof(T))};
}
/// Ends the program: the kernel did what a GPU would not let it do.
[[noreturn]] void Fail(const std::string& message);
/// Fails where a GPU would: an address of some numbers at once that is not a multiple of their size.
void RequireAligned(const void* address, size_t size_bytes);
void Fence();
/// Fails where this thread has had no fence since its last barrier.
void RequireFenced();
void CopyAsync(void* to, const void* from, int bytes, int valid_bytes);
void CommitCopies();
void WaitForCopies(int pending);

/// The address of shared memory in its own space. It does not begin at a multiple of more than 16 bytes.
uint32_t SharedAddress(const void* shared);
/// Products read shared memory as it was when the last thread of the block published what it wrote. They read NaNs
/// where not all threads did so since the last barrier.
void PublishToProducts();
const std::byte* SeenByProducts(uint32_t address);
/// Products of a group of warps are computed only when they are waited for, each thread its own sums. Fails where sums
/// that were in the program's hands are added to without BeginProducts().
void BeginProducts();
void StartProduct(std::function<void()> product);
void CommitProducts();
/// All but those of the last `pending` commits.
void WaitForProducts(int pending);

/// Barriers in shared memory (mbarrier), as backend/cuda/barriers.cuh tells of them. Fails where one was not begun, or
/// where its block has ended.
void InitBarrier(void* barrier, int arrivals);
void Arrive(void* barrier, unsigned rank);
void ArriveExpecting(void* barrier, int size_bytes);
void WaitForPhase(void* barrier, unsigned parity);
/// What launches do without from now on; tests show that no kernel can. The first of a block's barriers tell what is
/// there (full), as many last ones what is done with (empty). Two between them tell whose turn it is.
enum class Without { kNothing, kFullWaits, kEmptyWaits, kTurns, kFirstMeeting, kLastMeeting };
void DoWithout(Without what);
Without LeftOut();
unsigned ClusterRank();
void WaitForCluster();
/// A part of a matrix that the hardware copies, its pieces of 16 bytes swapped among eight rows.
struct Part {
  const std::byte* data;
  int64_t rows, cols, stride;  // of the matrix: numbers
  int64_t row, col;            // where the part begins
  int part_rows, part_cols, number_bytes;
};
/// Bytes come at once or late, by turns, and are counted late. Fails where a part may not stand there.
void CopyPart(void* to, const Part& part, void* barrier, unsigned ranks);
/// Fails where a group of warps has more or fewer already, or where it takes some that nobody gives.
void GiveRegisters(int count);
void TakeRegisters(int count);

/// Runs body() as every thread of every block. Aborts, naming the kernel, where a barrier is not reached by all the
/// threads of a block.
void Launch(const char* name, dim3 grid, dim3 block, int64_t shared_bytes, const std::function<void()>& body);

/// The same with all blocks at once, so that they may wait for each other. Aborts where none can go on.
void LaunchTogether(const char* name, dim3 grid, dim3 block, int64_t shared_bytes, const std::function<void()>& body);
/// The same with `cluster` blocks after each other at once, cluster by cluster.
void LaunchClusters(const char* name, dim3 grid, dim3 block, int64_t shared_bytes, unsigned cluster,
                    const std::function<void()>& body);
unsigned AddOne(unsigned* counter);
/// Lets the others go on; of a thread that waits for another block.
void Pause();

/// How many kernels and threads ran: tests assert that something did.
struct Counts {
  int64_t kernels = 0;
  int64_t threads = 0;
};
Counts CountsSoFar();

}  // namespace lamina::emulator

#define threadIdx (::lamina::emulator::Here().thread)
#define blockIdx (::lamina::emulator::Here().block)
#define blockDim (::lamina::emulator::Here().block_size)
#define gridDim (::lamina::emulator::Here().grid)

inline void __syncthreads() { lamina::emulator::Barrier(); }
inline void __syncwarp() { lamina::emulator::Shuffle(0, 0); }

template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = lamina::emulator::Shuffle(bits, static_cast<int>(threadIdx.x % 32) ^ mask);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline unsigned __vabsdiffu4(unsigned a, unsigned b) {
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const int difference = static_cast<int>(a >> shift & 255U) - static_cast<int>(b >> shift & 255U);
    result |= static_cast<unsigned>(std::abs(difference)) << shift;
  }
  return result;
}

inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int shift = 0; shift < 32; shift += 8) {
    sum += (a >> shift & 255U) * (b >> shift & 255U);
  }
  return sum;
}

inline int __dp4a(int a, int b, int sum) {
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<int8_t>(a >> shift) * static_cast<int8_t>(b >> shift);
  }
  return sum;
}
