// lamina devices.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/backend/backends.h"
#include "lamina/backend/blas/blas_backend.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/used_libraries.h"
#include "lamina/base/hardware.h"
#include "print.h"

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

// Why there is no usable GPU.
std::string WhyNoGpu() {
  for (const BackendRow& row : BackendTable()) {
    if (row.name == "cuda") {
      return row.available().reason;
    }
  }
  return "";
}

void PrintGpus(const std::vector<GpuInfo>& gpus) {
  if (gpus.empty()) {
    Print("GPU        none: {}\n", WhyNoGpu());
  }
  for (const GpuInfo& gpu : gpus) {
    Print("GPU        {}, compute capability {}, {} multiprocessors, {} ({} free), driver for CUDA {}\n", gpu.name,
          gpu.compute_capability, gpu.multiprocessors, SizeText(gpu.memory_bytes), SizeText(gpu.free_bytes),
          gpu.driver);
  }
}

nlohmann::json ToJson(const std::vector<GpuInfo>& gpus) {
  nlohmann::json list = nlohmann::json::array();
  for (const GpuInfo& gpu : gpus) {
    list.push_back({{"name", gpu.name},
                    {"compute_capability", gpu.compute_capability},
                    {"multiprocessors", gpu.multiprocessors},
                    {"memory_bytes", gpu.memory_bytes},
                    {"free_bytes", gpu.free_bytes},
                    {"driver", gpu.driver}});
  }
  return list;
}

std::string UseText(bool used, std::string_view needs) {
  return used ? "yes" : fmt::format("no (they need {})", needs);
}

// What is used of AMX, or why nothing.
std::string TilesText(const cpu::InstructionSetUse& use) {
  std::vector<std::string_view> kinds;
  if (use.used.bf16_tiles) {
    kinds.emplace_back("bf16");
  }
  if (use.used.byte_tiles) {
    kinds.emplace_back("bytes");
  }
  if (!kinds.empty()) {
    return fmt::format("of {} (AMX)", fmt::join(kinds, " and "));
  }
  return fmt::format("none: {}", use.why_no_tiles.empty() ? "LAMINA_ISA leaves AMX out" : use.why_no_tiles);
}

// With the libraries that it would open.
std::string DescribeWhole(const Backend& backend) {
  const auto* const uses = dynamic_cast<const UsesLibraries*>(&backend);
  return backend.Describe() + (uses == nullptr ? "" : ", " + uses->DescribeLibraries());
}

void PrintText(const HardwareInfo& info, const std::vector<GpuInfo>& gpus) {
  Print("CPU        {}\n", info.cpu_name.empty() ? "unknown" : info.cpu_name);
  Print("cores      {} usable\n", info.logical_cores);
  Print("caches     L1 {} and L2 {} a core, L3 {}\n", SizeText(info.l1d_bytes), SizeText(info.l2_bytes),
        SizeText(info.l3_bytes));
  Print("vectors    {}\n", fmt::join(info.vector_instructions, " "));
  const cpu::InstructionSetUse& use = cpu::ApplyInstructionSets();
  Print("kernels    {} (of {}), byte products {}, bf16 products {}\n", CpuTargets().front(),
        fmt::join(CpuTargets(), ", "), UseText(use.used.byte_products, "AVX-512 VNNI"),
        UseText(use.used.bf16_products, "AVX-512 BF16"));
  if (!use.not_built.empty()) {
    Print("not built  kernels for {}, which would be faster: scripts/build\n", fmt::join(use.not_built, ", "));
  }
  Print("tiles      {}\n", TilesText(use));
  if (use.level != nullptr) {
    const std::vector<std::string> left_out = use.LeftOut();
    Print("LAMINA_ISA {}: {}\n", use.level->name,
          left_out.empty() ? "all that kernels have for this processor is used"
                           : fmt::format("{} not used", fmt::join(left_out, ", ")));
  }
  Print("memory     {} in all, {} available\n", SizeText(info.memory_total_bytes), SizeText(info.UsableMemory_bytes()));
  Print("system     {}\n", info.os);
  PrintGpus(gpus);
  Print("backends\n");
  bool first = true;
  for (const BackendRow& row : BackendTable()) {
    const Verdict verdict = row.available();
    Print("  {:<8} {}{}\n", row.name, verdict ? DescribeWhole(*row.make({})) : "not available: " + verdict.reason,
          verdict && first ? "  (auto)" : "");
    first = first && !verdict;
  }
}

nlohmann::json ToJson(const HardwareInfo& info, const std::vector<GpuInfo>& gpus) {
  nlohmann::json backends = nlohmann::json::array();
  for (const BackendRow& row : BackendTable()) {
    const Verdict verdict = row.available();
    backends.push_back({{"name", row.name},
                        {"available", verdict.ok},
                        {"description", verdict ? DescribeWhole(*row.make({})) : ""},
                        {"reason", verdict.reason}});
  }
  const cpu::InstructionSetUse& use = cpu::ApplyInstructionSets();
  nlohmann::json levels = nlohmann::json::array();
  for (const cpu::InstructionLevel& level : cpu::InstructionLevels()) {
    levels.push_back(level.name);
  }
  return {{"cpu_name", info.cpu_name},
          {"logical_cores", info.logical_cores},
          {"physical_cores", info.physical_cores},
          {"l1d_bytes", info.l1d_bytes},
          {"l2_bytes", info.l2_bytes},
          {"l3_bytes", info.l3_bytes},
          {"vector_instructions", info.vector_instructions},
          {"kernel_targets", CpuTargets()},
          {"kernel_targets_not_built", use.not_built},
          {"byte_products", use.used.byte_products},
          {"bf16_products", use.used.bf16_products},
          {"bf16_tiles", use.used.bf16_tiles},
          {"byte_tiles", use.used.byte_tiles},
          {"why_no_tiles", use.why_no_tiles},
          {"isa", use.level == nullptr ? nlohmann::json() : nlohmann::json(use.level->name)},
          {"isa_levels", levels},
          {"isa_left_out", use.LeftOut()},
          {"memory_total_bytes", info.memory_total_bytes},
          {"memory_available_bytes", info.UsableMemory_bytes()},
          {"os", info.os},
          {"gpus", ToJson(gpus)},
          {"gpu_reason", gpus.empty() ? WhyNoGpu() : ""},
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
            const std::vector<GpuInfo> gpus = UsableGpus();
            if (!json_output->to_stdout()) {
              PrintText(info, gpus);
            }
            json_output->Write("devices", ToJson(info, gpus));
            return kExitOk;
          }};
}

}  // namespace lamina::cli
