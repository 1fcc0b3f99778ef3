// Texts that are compared.
#include "lamina/layer/same_files.h"

#include <algorithm>

#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/base/sha256.h"
#include "lamina/base/version.h"

namespace lamina {
namespace {

// What tells a file from another one: its shape, and the bytes of rows that are spread over it.
std::string SampleOf(NpyMatrix& file) {
  constexpr int64_t kRows = 64;
  Sha256 bytes;
  const int64_t row_bytes = file.cols() * DTypeSize_bytes(file.dtype());
  for (int64_t i = 0; i < std::min(kRows, file.rows()); ++i) {
    const int64_t row = i * file.rows() / std::min(kRows, file.rows());
    bytes.Update(file.Rows(row, 1).data, static_cast<size_t>(row_bytes));
    file.Release(row, 1);
  }
  return fmt::format("{} x {} {} {}", file.rows(), file.cols(), DTypeName(file.dtype()),
                     bytes.HexDigest().substr(0, 16));
}

}  // namespace

void RequireSameFiles(Communicator& ranks, const Backend& backend, const std::string& settings,
                      const std::vector<NpyMatrix*>& files) {
  RequireSame(ranks, "the version of lamina", Version(), "Install the same one on all hosts.");
  RequireSame(ranks, "the backend", fmt::format("{} ({})", backend.name(), CpuTargets().front()),
              "Their numbers would differ. Choose one that all hosts have: --backend, LAMINA_ISA=avx2.");
  RequireSame(ranks, "the settings", settings, "Start all ranks with the same command.");
  std::string content;
  for (NpyMatrix* const file : files) {
    content += (content.empty() ? "" : " ") + SampleOf(*file);
  }
  RequireSame(ranks, "the files", content,
              "Copy the same files to all hosts, or read them from a file system that all share.");
}

}  // namespace lamina
