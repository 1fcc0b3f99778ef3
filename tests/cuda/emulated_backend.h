// Backend "cuda" on the host: its own code, its kernels on fibers (emulator.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"

namespace lamina::cuda_emulated {

inline constexpr int64_t kEmulatedMemory_bytes = int64_t{1} << 30;

/// Whether this test program has it (tests/suites.cmake); if not, nothing else of this file may be called.
bool Compiled();

std::unique_ptr<Backend> MakeBackend(const BackendOptions& options);

inline constexpr int kEmulatedCompute = 9;
inline constexpr int kEmulatedGpus = 4;

/// These three hold for backends made from now on. They set memory, compute capability (major), and which queues do
/// nothing before somebody waits (bit 0: kernels, 1: uploads, 2: downloads; emulated_queues.h).
void SetEmulatedMemory(int64_t size_bytes);
void SetEmulatedCompute(int major);
void SetLateQueues(unsigned lanes);
/// Whether there is a stand-in for NCCL, as which version.
void SetEmulatedNccl(bool available, const std::string& version = "emulated");
/// Whether there is one for cuSOLVER.
void SetEmulatedSolver(bool available);

/// What a kernel of one block, or of all its blocks together, may do wrong; each ends the program with a message.
enum class Planted {
  kMisalignedStore,
  kMisalignedLoad,
  kMisalignedKeep,
  kCountWithoutFence,
  kFenceBeforeBarrier,
  kTooManyRegisters,
  kMisplacedPart,
  kNoBarrier,
  kMoreArrivals,
};
void RunPlanted(Planted mistake);
/// The waits that kernels can be made to do without (emulator::Without), each by its name; "" is none of them.
std::vector<std::string> WaitsToLeaveOut();
void LeaveOut(const std::string& wait);
/// The error of a launch of so many threads, rows of the grid and bytes of shared memory; "" where it works.
std::string ErrorOfLaunch(int threads, unsigned grid_rows, int64_t shared_bytes, unsigned together = 0);

/// Rows of a panel of the library's product for `problem`, by a plan with panels of so many bytes; 0: by none.
int64_t PanelRowsOf(const std::string& problem, int64_t panel_bytes);

/// Every rate of backend/cuda/limits.h, of small work.
std::vector<double> MeasureLimits();

}  // namespace lamina::cuda_emulated
