// The processors, in the words of /proc/cpuinfo: by CPUID and what the system knows of cores.
#include <cpuid.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lamina/platform/process.h"
#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

enum Register { kEax, kEbx, kEcx, kEdx };
using Registers = std::array<unsigned, 4>;

Registers Cpuid(unsigned leaf, unsigned part) {
  Registers found{};
  __get_cpuid_count(leaf, part, &found[kEax], &found[kEbx], &found[kEcx], &found[kEdx]);
  return found;
}

// What of the registers the system saves: XCR0. 0 where it cannot be asked.
uint64_t SavedRegisters() {
  constexpr unsigned kSystemSaves = 1U << 27U;
  if ((Cpuid(1, 0)[kEcx] & kSystemSaves) == 0) {
    return 0;
  }
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32U | low;
}

// Calls with each record of what the system says of its processors.
template <class Fn>
void EachProcessorRecord(LOGICAL_PROCESSOR_RELATIONSHIP which, const Fn& fn) {
  DWORD size = 0;
  GetLogicalProcessorInformationEx(which, nullptr, &size);
  std::vector<std::byte> bytes(size);
  auto* const first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(bytes.data());
  if (size == 0 || GetLogicalProcessorInformationEx(which, first, &size) == 0) {
    return;
  }
  for (DWORD at = 0; at < size;) {
    const auto& record = *reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(bytes.data() + at);
    fn(record);
    at += record.Size;
  }
}

constexpr uint64_t kAvx = 0x6, kAvx512 = 0xE6;

// AMX is not among them: the program cannot ask this system for its registers.
struct Flag {
  const char* name;
  unsigned leaf, part;
  Register in;
  unsigned bit;
  uint64_t registers;  // that the system must save
};
constexpr std::array kFlags{Flag{"sse2", 1, 0, kEdx, 26, 0},
                            Flag{"sse4_1", 1, 0, kEcx, 19, 0},
                            Flag{"avx", 1, 0, kEcx, 28, kAvx},
                            Flag{"f16c", 1, 0, kEcx, 29, kAvx},
                            Flag{"fma", 1, 0, kEcx, 12, kAvx},
                            Flag{"avx2", 7, 0, kEbx, 5, kAvx},
                            Flag{"avx_vnni", 7, 1, kEax, 4, kAvx},
                            Flag{"avx512f", 7, 0, kEbx, 16, kAvx512},
                            Flag{"avx512bw", 7, 0, kEbx, 30, kAvx512},
                            Flag{"avx512_vnni", 7, 0, kEcx, 11, kAvx512},
                            Flag{"avx512_bf16", 7, 1, kEax, 5, kAvx512},
                            Flag{"avx512_fp16", 7, 0, kEdx, 23, kAvx512}};

std::string ProcessorName() {
  constexpr unsigned kFirstLeaf = 0x80000002;
  std::array<char, 48> name{};
  for (unsigned i = 0; i < 3; ++i) {
    const Registers part = Cpuid(kFirstLeaf + i, 0);
    std::memcpy(name.data() + sizeof(part) * i, part.data(), sizeof(part));
  }
  return {name.data(), strnlen(name.data(), name.size())};
}

}  // namespace

std::string ProcessorsText() {
  std::string text = "model name : " + ProcessorName() + "\nflags :";
  const uint64_t saved = SavedRegisters();
  for (const Flag& flag : kFlags) {
    if ((Cpuid(flag.leaf, flag.part)[flag.in] >> flag.bit & 1U) != 0 && (saved & flag.registers) == flag.registers) {
      text += std::string(" ") + flag.name;
    }
  }
  text += '\n';
  int core = 0;
  EachProcessorRecord(RelationProcessorCore, [&](const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX& record) {
    for (uint64_t left = record.Processor.GroupMask[0].Mask; left != 0; left &= left - 1) {
      text += "processor : " + std::to_string(std::countr_zero(left)) + "\ncore id : " + std::to_string(core) + "\n";
    }
    ++core;
  });
  return text;
}

int64_t CacheSize_bytes(int level) noexcept {
  int64_t size_bytes = 0;
  EachProcessorRecord(RelationCache, [&](const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX& record) {
    if (record.Cache.Level == level && record.Cache.Type != CacheInstruction && size_bytes == 0) {
      size_bytes = record.Cache.CacheSize;
    }
  });
  return size_bytes;
}

}  // namespace lamina::platform
