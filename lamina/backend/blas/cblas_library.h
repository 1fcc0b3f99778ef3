// The installed CBLAS, opened when it is first asked for: OpenBLAS takes its buffers when it is loaded, 128 MiB a
// thread, which programs that do not multiply with it shall not pay for. Private to backend "blas".
#pragma once

#include <cblas.h>

#include <string>

#include "lamina/backend/host_parts.h"

namespace lamina {

/// The OpenMP that a library brings, by the names of its functions in every such runtime (GCC's, LLVM's and Intel's).
struct OpenMp {
  void (*parallel)(void (*)(void*), void*, unsigned threads, unsigned flags) = nullptr;  // GOMP_parallel
  int (*thread)() = nullptr;
  int (*threads)() = nullptr;
  int (*most)() = nullptr;
  void (*set_most)(int) = nullptr;  // of the calling thread's regions

  bool complete() const {
    return parallel != nullptr && thread != nullptr && threads != nullptr && most != nullptr && set_most != nullptr;
  }
};

/// The functions that are used, as the header declares them.
struct CblasLibrary {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  // There in OpenBLAS only.
  char* (*config)() = nullptr;
  char* (*core_name)() = nullptr;
  void (*set_threads)(int) = nullptr;  // of the process
  OpenMp openmp;                       // complete() where its threads are those
  std::string reason;                  // why it is not usable; empty: it is
};

/// Opens it at the first call. Any thread.
const CblasLibrary& TheCblas();

/// RunRegion() by the library's own threads, where it tells them. No barriers.
RegionRunner CblasRegions();

/// While it lives, the library's products called from this thread use `threads` threads.
class CblasThreads {
 public:
  explicit CblasThreads(int threads);
  ~CblasThreads();
  CblasThreads(const CblasThreads&) = delete;
  CblasThreads& operator=(const CblasThreads&) = delete;

 private:
  int before_ = 0;
};

}  // namespace lamina
