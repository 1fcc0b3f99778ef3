// What a kernel machine of all rows takes of memory and time, known before it is solved.
#pragma once

#include <cstdint>

namespace lamina {

struct TableSize {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t outputs = 0;
};

/// Whether `machines` of so many rows have room beside each other in this computer's memory, where that is known.
bool KernelMachinesFit(const TableSize& size, int64_t machines);

/// About what SolveKernelMachine() takes one thread of this processor, in seconds. A small factorization tells how fast
/// it is, once a process: some milliseconds. A busy processor looks slow.
double KernelSeconds(const TableSize& size);

}  // namespace lamina
