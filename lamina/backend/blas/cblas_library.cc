// Opened where there is address space for it.
#ifdef LAMINA_HAVE_BLAS
#include "lamina/backend/blas/cblas_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>

#include "lamina/base/hardware.h"
#include "lamina/base/opened_library.h"
#include "lamina/base/text.h"
#include "lamina/platform/memory.h"
#include "lamina/platform/process.h"

namespace lamina {
namespace {

// OpenBLAS 0.3.21 asks for a buffer of 128 MiB a thread when it is loaded, and for one when it multiplies. Where the
// system refuses it goes on asking for ever. Measured: 295 MiB with one thread, 431 with two.
constexpr int64_t kBase_bytes = int64_t{256} << 20;
constexpr int64_t kThread_bytes = int64_t{144} << 20;

// What RLIMIT_AS and RLIMIT_DATA leave to this process; nothing where there is no limit.
std::optional<int64_t> AddressSpaceLeft_bytes() {
  int64_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;  // in pages: proc(5), statm
  std::ifstream("/proc/self/statm") >> size >> resident >> shared >> text >> library >> data;
  std::optional<int64_t> left;
  const auto limit = [&](std::optional<int64_t> most_bytes, int64_t used_pages) {
    if (most_bytes) {
      const int64_t free_bytes = *most_bytes - used_pages * platform::PageSize_bytes();
      left = std::min(left.value_or(free_bytes), std::max<int64_t>(0, free_bytes));
    }
  };
  limit(platform::AddressSpaceLimit_bytes(), size);
  limit(platform::DataLimit_bytes(), data);
  return left;
}

CblasLibrary Open() {
  CblasLibrary library;
  const int64_t needed = kBase_bytes + kThread_bytes * std::max(UsableCores(), UsualThreads());
  if (const auto left = AddressSpaceLeft_bytes(); left && *left < needed) {
    library.reason = fmt::format("{} takes {} of address space, and the limit (ulimit -v, -d) leaves {}", LAMINA_CBLAS,
                                 BytesText(needed), BytesText(*left));
    return library;
  }
  OpenedLibrary opened(LAMINA_CBLAS);
  opened.Find(library.sgemm, "cblas_sgemm");
  opened.Find(library.dgemm, "cblas_dgemm");
  opened.FindIfThere(library.config, "openblas_get_config");
  opened.FindIfThere(library.core_name, "openblas_get_corename");
  opened.FindIfThere(library.set_threads, "openblas_set_num_threads");
  opened.FindIfThere(library.openmp.parallel, "GOMP_parallel");
  opened.FindIfThere(library.openmp.thread, "omp_get_thread_num");
  opened.FindIfThere(library.openmp.threads, "omp_get_num_threads");
  opened.FindIfThere(library.openmp.most, "omp_get_max_threads");
  opened.FindIfThere(library.openmp.set_most, "omp_set_num_threads");
  library.reason = opened.reason();
  return library;
}

}  // namespace

const CblasLibrary& TheCblas() {
  static const CblasLibrary library = Open();
  return library;
}

namespace {

struct Region {
  void (*function)(void*, Team);
  void* context;
};

void RunByOpenMp(int threads, void (*function)(void*, Team), void* context) noexcept {
  Region region{function, context};
  TheCblas().openmp.parallel(
      [](void* argument) {
        const OpenMp& openmp = TheCblas().openmp;
        const auto& of = *static_cast<const Region*>(argument);
        of.function(of.context, {.thread = openmp.thread(), .size = openmp.threads()});
      },
      &region, static_cast<unsigned>(threads), 0);
}

}  // namespace

RegionRunner CblasRegions() { return TheCblas().openmp.complete() ? RunByOpenMp : RunRegion; }

CblasThreads::CblasThreads(int threads) {
  const CblasLibrary& library = TheCblas();
  if (library.openmp.complete()) {  // asked at every product
    before_ = library.openmp.most();
    library.openmp.set_most(threads);
  } else if (library.set_threads != nullptr) {
    library.set_threads(threads);
  }
}

CblasThreads::~CblasThreads() {
  if (before_ > 0) {
    TheCblas().openmp.set_most(before_);
  }
}

}  // namespace lamina
#endif
