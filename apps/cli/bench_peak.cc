// lamina bench peak: the machine's measured limits.
#include "bench_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"
#include "lamina/backend/backends.h"
#include "lamina/base/hardware.h"
#include "lamina/measure/issue_limit.h"
#include "lamina/measure/memory_bandwidth.h"
#include "print.h"

namespace lamina::cli {
namespace {

// Every instruction mix that the kernels use: multiply-add, absolute differences, maxima, bytes by SAD and in quads,
// ...
constexpr std::array kKinds{SynapseKind{Synapse::kDot, DType::kF32},
                            SynapseKind{Synapse::kL1, DType::kF32},
                            SynapseKind{Synapse::kL1, DType::kF32, Precision::kFast},
                            SynapseKind{Synapse::kL2Squared, DType::kF32},
                            SynapseKind{Synapse::kDot, DType::kF64},
                            SynapseKind{Synapse::kL1, DType::kF64},
                            SynapseKind{Synapse::kL2Squared, DType::kF64},
                            SynapseKind{Synapse::kDot, DType::kBF16},
                            SynapseKind{Synapse::kL1, DType::kU8},
                            SynapseKind{Synapse::kDot, DType::kU8},
                            SynapseKind{Synapse::kL2Squared, DType::kU8},
                            SynapseKind{Synapse::kL1, DType::kI16},
                            SynapseKind{Synapse::kDot, DType::kI16},
                            SynapseKind{Synapse::kL1, DType::kI64},
                            SynapseKind{Synapse::kDot, DType::kI64}};

struct BenchPeakCommand {
  int threads = 0;
  JsonOutput json_output;
};

// Limits of the GPU that backend cuda uses; nothing where there is none.
nlohmann::json MeasureGpu(bool text) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const GpuInfo& gpu : UsableGpus()) {
    nlohmann::json limits = nlohmann::json::array();
    for (const SynapseKind& kind :
         {SynapseKind{Synapse::kDot, DType::kF32}, SynapseKind{Synapse::kL1, DType::kF32},
          SynapseKind{Synapse::kL2Squared, DType::kF32}, SynapseKind{Synapse::kDot, DType::kF64},
          SynapseKind{Synapse::kL1, DType::kF64}, SynapseKind{Synapse::kL1, DType::kF16, Precision::kFast},
          SynapseKind{Synapse::kL1, DType::kBF16, Precision::kFast}, SynapseKind{Synapse::kL1, DType::kU8}}) {
      const double limit = MeasureDeviceSynapseLimit(kind);
      const bool fast = kind.precision == Precision::kFast;
      limits.push_back({{"synapse", SynapseName(kind.synapse)},
                        {"dtype", DTypeName(kind.dtype)},
                        {"precision", fast ? "fast" : "exact"},
                        {"synapses_per_second", limit}});
      if (text) {
        Print("{}: {} {}{}: {:.4g} synapses/s\n", gpu.name, SynapseName(kind.synapse), DTypeName(kind.dtype),
              fast ? "-fast" : "", limit);
      }
    }
    nlohmann::json products = nlohmann::json::array();
    for (const SynapseKind& kind :
         {SynapseKind{Synapse::kDot, DType::kF32}, SynapseKind{Synapse::kDot, DType::kF32, Precision::kFast},
          SynapseKind{Synapse::kDot, DType::kBF16}, SynapseKind{Synapse::kDot, DType::kF16}}) {
      constexpr int64_t kSide = 8192;  // large enough for the tensor cores' rate
      const double seconds = MeasureDeviceLibraryProduct_seconds(kind.dtype, kind.precision, kSide, kSide, kSide);
      const double rate = seconds > 0 ? std::pow(static_cast<double>(kSide), 3) / seconds : 0;
      const bool fast = kind.precision == Precision::kFast;
      if (rate > 0) {
        products.push_back(
            {{"dtype", DTypeName(kind.dtype)}, {"precision", fast ? "fast" : "exact"}, {"synapses_per_second", rate}});
      }
      if (text) {
        Print("{}: dot {}{} by cuBLASLt: {}\n", gpu.name, DTypeName(kind.dtype), fast ? "-fast (TF32)" : "",
              rate > 0 ? fmt::format("{:.4g} synapses/s, {:.0f} GFLOP/s", rate, 2e-9 * rate) : "not installed");
      }
    }
    const double bandwidth = MeasureDeviceBandwidth();
    if (text) {
      Print("{}: memory copies {:.1f} GB/s (read and written)\n", gpu.name, 1e-9 * bandwidth);
    }
    gpus.push_back(
        {{"name", gpu.name}, {"limits", limits}, {"library_products", products}, {"copy_bytes_per_second", bandwidth}});
  }
  return gpus;
}

nlohmann::json MeasureSynapses(const std::set<int>& thread_counts, bool text) {
  if (text) {
    Print("{:<8} {:<9} {:>7} {:>12} {:>10} {:>9}\n", "synapse", "type", "threads", "synapses/s", "t_syn ns", "GFLOP/s");
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const int threads : thread_counts) {
    for (const SynapseKind& kind : kKinds) {
      const double limit = MeasureSynapseLimit(kind, threads);
      const bool fast = kind.precision == Precision::kFast;
      rows.push_back({{"synapse", SynapseName(kind.synapse)},
                      {"dtype", DTypeName(kind.dtype)},
                      {"precision", fast ? "fast" : "exact"},
                      {"threads", threads},
                      {"synapses_per_second", limit},
                      {"t_syn_ns", 1e9 / limit}});
      if (text) {
        Print("{:<8} {:<9} {:>7} {:>12.4g} {:>10.5f} {:>9}\n", SynapseName(kind.synapse),
              fmt::format("{}{}", DTypeName(kind.dtype), fast ? "-fast" : ""), threads, limit, 1e9 / limit,
              kind.synapse == Synapse::kDot && !IsInteger(kind.dtype) ? fmt::format("{:.1f}", 2e-9 * limit) : "");
        std::fflush(stdout);
      }
    }
  }
  return rows;
}

nlohmann::json MeasureCaches(const HardwareInfo& info, const std::set<int>& thread_counts, bool text) {
  nlohmann::json caches = nlohmann::json::array();
  for (const int threads : thread_counts) {
    const int64_t third_bytes = std::min(info.l3_bytes / threads, 8 * info.l2_bytes);
    for (const auto& [level, size_bytes] :
         {std::pair<int, int64_t>{1, info.l1d_bytes}, {2, info.l2_bytes}, {3, third_bytes}}) {
      if (size_bytes == 0) {
        continue;
      }
      const double rate = MeasureCacheRead_bytes_per_second(size_bytes / 2, threads);
      caches.push_back({{"level", level}, {"threads", threads}, {"read_bytes_per_second", rate}});
      if (text) {
        Print("cache level {}, {} thread{}: reads {:.1f} GB/s\n", level, threads, threads == 1 ? "" : "s", 1e-9 * rate);
      }
    }
  }
  return caches;
}

nlohmann::json MeasureMemory(const std::set<int>& thread_counts, bool text) {
  nlohmann::json memory = nlohmann::json::array();
  for (const int threads : thread_counts) {
    const MemoryBandwidth bandwidth = MeasureMemoryBandwidth(threads);
    memory.push_back({{"threads", threads},
                      {"read_bytes_per_second", bandwidth.read_bytes_per_second},
                      {"copy_bytes_per_second", bandwidth.copy_bytes_per_second}});
    if (text) {
      Print("memory, {} thread{}: reads {:.1f} GB/s, copies {:.1f} GB/s (read and written)\n", threads,
            threads == 1 ? "" : "s", 1e-9 * bandwidth.read_bytes_per_second, 1e-9 * bandwidth.copy_bytes_per_second);
    }
  }
  return memory;
}

int RunBenchPeak(const BenchPeakCommand& command) {
  command.json_output.Check();
  const HardwareInfo info = QueryHardware();
  const bool text = !command.json_output.to_stdout();
  const std::set<int> thread_counts{1, command.threads > 0 ? command.threads : info.logical_cores};
  if (text) {
    Print(
        "{}\nWhat the threads reach with nothing but the synapse's arithmetic in registers, best of several runs.\n\n",
        info.OneLine());
  }
  nlohmann::json rows = MeasureSynapses(thread_counts, text);
  nlohmann::json caches = MeasureCaches(info, thread_counts, text);
  nlohmann::json memory = MeasureMemory(thread_counts, text);
  const nlohmann::json gpus = MeasureGpu(text);
  command.json_output.Write("bench peak", {{"hardware", info.OneLine()},
                                           {"gpus", gpus},
                                           {"limits", std::move(rows)},
                                           {"caches", std::move(caches)},
                                           {"memory", std::move(memory)}});
  return kExitOk;
}

}  // namespace

std::function<int()> AddBenchPeak(CLI::App& bench) {
  auto command = std::make_shared<BenchPeakCommand>();
  CLI::App* peak = bench.add_subcommand("peak", "Measure the limits of this machine: arithmetic and memory");
  AddThreadsFlag(*peak, command->threads, "Threads beside one; 0: all cores");
  command->json_output.AddTo(*peak);
  return [command] { return RunBenchPeak(*command); };
}

}  // namespace lamina::cli
