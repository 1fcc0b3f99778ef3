// A CUDA runtime without a GPU. The real device.cc and copy_streams.cc are linked with functions that only keep the
// rules about which GPU a thread has chosen. Nothing is computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lamina::runtime_stand_in {

/// What the next calls find; set before a Device is made.
struct Machine {
  int gpus = 2;
  int driver = 13000;       // what cudaDriverGetVersion tells
  bool cooperative = true;  // launches of blocks that wait for each other
  int resident = 1;         // blocks of a kernel a multiprocessor
  bool maps = true;         // the driver has cuTensorMapEncodeTiled ...
  int map_result = 0;       // ... which answers so
};
Machine& TheMachine();

/// Uses of a stream, an event or memory while another GPU was the thread's, each "FUNCTION: GPU 1, not 0".
std::vector<std::string> Mistakes();
/// The GPU of the calling thread; as cudaGetDevice and cudaSetDevice.
int CurrentGpu();
void ChooseGpu(int number);
/// What the driver was last told of a matrix to copy parts of. Sizes, bytes from row to row and the part come before
/// type, swapping and what lies beyond.
std::vector<int64_t> LastMap();
/// Blocks of a cluster of the last launch that had such.
int LastCluster();
/// What streams were asked for that concerns the order of recorded work, each "FUNCTION", and of which stream.
struct StreamCall {
  std::string function;
  const void* stream;
  bool operator==(const StreamCall&) const = default;
};
std::vector<StreamCall> StreamCalls();
/// Graphs that became parts of other ones.
int Branches();
/// Calls that did something to a GPU, so that a test knows that there were some.
int Calls();

}  // namespace lamina::runtime_stand_in
