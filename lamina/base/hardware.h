// Facts about the machine: processor, caches, vector instructions, memory; for reports, plans and the choice of
// threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lamina {

/// Unknown numbers are 0, unknown texts empty.
struct HardwareInfo {
  std::string cpu_name;                          // "AMD EPYC 9B45"
  int logical_cores = 0;                         // that this process may use (its affinity mask)
  int physical_cores = 0;                        // that those belong to
  int64_t l1d_bytes = 0;                         // per core
  int64_t l2_bytes = 0;                          // per core, or per group of cores that share one
  int64_t l3_bytes = 0;                          // per group of cores that share one
  std::vector<std::string> vector_instructions;  // names as Linux gives them, plus "neon": "avx2", "avx512_bf16", ...
  int64_t memory_total_bytes = 0;
  int64_t memory_available_bytes = 0;  // without swapping, at the time of the query
  int64_t memory_limit_bytes = 0;      // of the control group (container); 0: no limit
  std::string os;                      // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64"

  bool Has(const std::string& vector_instruction) const;
  /// Available memory within the limit of the control group.
  int64_t UsableMemory_bytes() const;
  /// "AMD EPYC 9B45, 2 cores, AVX-512, L2 1 MiB, 23.5 GiB".
  std::string OneLine() const;
};

/// Reads /proc and /sys (under `root`, which tests replace) and asks the C library where they say nothing. Never throws
/// for missing files. Takes about a millisecond; x86-64 and aarch64.
HardwareInfo QueryHardware(const std::string& root = "/");

/// Cores this process may use (its affinity mask), at least 1.
int UsableCores();

/// Threads where nobody gives a number: what OMP_NUM_THREADS said at the first call, else the cores that this process
/// may use. So many prepare data.
int UsualThreads();

/// UsualThreads() are at most so many from now on, in the whole process; 0: no limit. For hosts that share their cores
/// among libraries.
void LimitUsualThreads(int most);

}  // namespace lamina
