// lamina devices.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/backend/backends.h"
#include "lamina/backend/blas/blas_backend.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/base/hardware.h"

namespace lamina::cli {
namespace {

std::string SizeText(int64_t size_bytes) {
  if (size_bytes <= 0) {
    return "unknown";
  }
  const double kib = static_cast<double>(size_bytes) / 1024.0;
  return kib < 1024
             ? fmt::format("{:g} KiB", kib)
             : (kib < 1048576 ? fmt::format("{:.4g} MiB", kib / 1024) : fmt::format("{:.4g} GiB", kib / 1048576));
}

std::string WhyNoGpu() {
#ifdef LAMINA_HAVE_CUDA
  return "none found";
#else
  return "none: this lamina has no CUDA backend";
#endif
}

void PrintText(const HardwareInfo& info) {
  fmt::print("CPU        {}\n", info.cpu_name.empty() ? "unknown" : info.cpu_name);
  fmt::print("cores      {} usable\n", info.logical_cores);
  fmt::print("caches     L1 {} and L2 {} a core, L3 {}\n", SizeText(info.l1d_bytes), SizeText(info.l2_bytes),
             SizeText(info.l3_bytes));
  fmt::print("vectors    {}\n", fmt::join(info.vector_instructions, " "));
  fmt::print("kernels    {} (of {})\n", CpuTargets().front(), fmt::join(CpuTargets(), ", "));
  fmt::print("memory     {} in all, {} available\n", SizeText(info.memory_total_bytes),
             SizeText(info.UsableMemory_bytes()));
  fmt::print("system     {}\n", info.os);
  fmt::print("GPU        {}\n", WhyNoGpu());
  fmt::print("backends\n");
  bool first = true;
  for (const BackendRow& row : BackendTable()) {
    const Verdict verdict = row.available();
    fmt::print("  {:<8} {}{}\n", row.name, verdict ? row.make({})->Describe() : "not available: " + verdict.reason,
               verdict && first ? "  (auto)" : "");
    first = first && !verdict;
  }
}

nlohmann::json ToJson(const HardwareInfo& info) {
  nlohmann::json backends = nlohmann::json::array();
  for (const BackendRow& row : BackendTable()) {
    const Verdict verdict = row.available();
    backends.push_back({{"name", row.name},
                        {"available", verdict.ok},
                        {"description", verdict ? row.make({})->Describe() : ""},
                        {"reason", verdict.reason}});
  }
  return {{"cpu_name", info.cpu_name},
          {"logical_cores", info.logical_cores},
          {"physical_cores", info.physical_cores},
          {"l1d_bytes", info.l1d_bytes},
          {"l2_bytes", info.l2_bytes},
          {"l3_bytes", info.l3_bytes},
          {"vector_instructions", info.vector_instructions},
          {"kernel_targets", CpuTargets()},
          {"memory_total_bytes", info.memory_total_bytes},
          {"memory_available_bytes", info.UsableMemory_bytes()},
          {"os", info.os},
          {"gpus", nlohmann::json::array()},
          {"gpu_reason", WhyNoGpu()},
          {"backends", backends}};
}

}  // namespace

Command AddDevices(CLI::App& app) {
  auto json_output = std::make_shared<JsonOutput>();
  CLI::App* devices = app.add_subcommand("devices", "Show the processor, memory, GPU and the usable backends");
  json_output->AddTo(*devices);
  return {devices, [json_output] {
            json_output->Check();
            const HardwareInfo info = QueryHardware();
            if (!json_output->to_stdout()) {
              PrintText(info);
            }
            json_output->Write("devices", ToJson(info));
            return kExitOk;
          }};
}

}  // namespace lamina::cli
