// What is told of a GPU.
#pragma once

#include <cstdint>
#include <string>

namespace lamina {

struct GpuInfo {
  std::string name;                // "NVIDIA H100 80GB HBM3"
  std::string compute_capability;  // "9.0"
  int multiprocessors = 0;
  int64_t memory_bytes = 0;
  int64_t free_bytes = 0;  // at the time of the query
  std::string driver;      // the newest CUDA it supports: "13.0"
};

}  // namespace lamina
