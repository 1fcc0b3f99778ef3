// The installed CBLAS, opened when it is first asked for: OpenBLAS takes its buffers when it is loaded, 128 MiB a
// thread, which programs that do not multiply with it shall not pay for. Private to backend "blas".
#pragma once

#include <cblas.h>

#include <string>

namespace lamina {

/// The functions that are used, as the header declares them.
struct CblasLibrary {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  // There in OpenBLAS only.
  char* (*config)() = nullptr;
  char* (*core_name)() = nullptr;
  std::string reason;  // why it is not usable; empty: it is
};

/// Opens it at the first call. Any thread.
const CblasLibrary& TheCblas();

}  // namespace lamina
