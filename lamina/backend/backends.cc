// The explicit table of backends, in priority order.
#include "lamina/backend/backends.h"

#include <array>

#include "lamina/backend/blas/blas_backend.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/serial/serial_backend.h"
#include "lamina/backend/threads/threads_backend.h"
#include "lamina/base/text.h"
#if defined(LAMINA_HAVE_CUDA)
#include "lamina/backend/cuda/cuda_backend.h"
#endif

namespace lamina {
namespace {

Verdict Always() { return Verdict::Yes(); }

#if defined(LAMINA_HAVE_CUDA)
Verdict CudaAvailable() { return cuda::DeviceAvailable(); }
std::unique_ptr<Backend> MakeCuda(const BackendOptions& options) { return cuda::MakeCudaBackend(options); }
#else
Verdict CudaAvailable() { return Verdict::No("this lamina was built without the CUDA toolkit"); }
std::unique_ptr<Backend> MakeCuda(const BackendOptions&) {
  throw Error(ErrorCode::kUnsupported, CudaAvailable().reason);
}
#endif

constexpr std::array<BackendRow, 5> kTable{{
    {"cuda", "NVIDIA GPU: own kernels, cuBLASLt where it is installed", &CudaAvailable, &MakeCuda},
    {"cpu", "blocked vector kernels, fused activation", &Always, &MakeCpuBackend},
    {"blas", "matrix products of the installed CBLAS", &BlasAvailable, &MakeBlasBackend},
    {"threads", "plain loops, minibatch sharded over threads (2016 paper, Algorithm 3)", &Always, &MakeThreadsBackend},
    {"serial", "plain loops, one thread: the baseline", &Always, &MakeSerialBackend},
}};

}  // namespace

std::span<const BackendRow> BackendTable() { return kTable; }

std::unique_ptr<Backend> MakeBackend(std::string_view name, const BackendOptions& options) {
  std::vector<std::string> names{"auto"};
  for (const BackendRow& row : kTable) {
    names.emplace_back(row.name);
    if (name != row.name && name != "auto") {
      continue;
    }
    const Verdict verdict = row.available();
    if (verdict) {
      return row.make(options);
    }
    if (name == row.name) {
      throw Error(ErrorCode::kUnsupported, "backend " + std::string(name) + " is not available: " + verdict.reason);
    }
  }
  std::string known;
  for (const std::string& each : names) {
    known += (known.empty() ? "" : ", ") + each;
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown backend",
              {.value = std::string(name), .remedy = DidYouMean(name, names) + "Known: " + known + "."});
}

}  // namespace lamina
