// Which instruction sets backend cpu uses: what the processor has, and of that nothing above LAMINA_ISA.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::cpu {

/// What kernels are chosen by.
struct InstructionSets {
  int64_t targets = 0;         // Highway's vector instruction sets, a bit each
  bool byte_products = false;  // four products of bytes a lane: AVX-512 VNNI
  bool bf16_products = false;  // two products of bf16 a lane: AVX-512 BF16
  bool bf16_tiles = false;     // products of 16 x 32 by 32 x 16 bf16: AMX-BF16
  bool byte_tiles = false;     // products of 16 x 64 by 64 x 16 bytes: AMX-INT8

  friend bool operator==(const InstructionSets&, const InstructionSets&) = default;
};
/// What is in both.
InstructionSets operator&(const InstructionSets& a, const InstructionSets& b);

/// A value of LAMINA_ISA.
struct InstructionLevel {
  std::string_view name;
  InstructionSets allowed;
};

/// Those of x86, each with what the ones before it have; then those of Arm. The first is the least that kernels are
/// compiled for, which every level allows.
std::span<const InstructionLevel> InstructionLevels();
/// The level of that name. Throws Error(kInvalidArgument).
const InstructionLevel& InstructionLevelOf(std::string_view name);

/// What this process uses, and why not more.
struct InstructionSetUse {
  const InstructionLevel* level = nullptr;  // of LAMINA_ISA; null: it is not set
  InstructionSets machine;                  // compiled in, and of this processor
  InstructionSets used;
  std::string why_no_tiles;            // where the machine has neither
  std::vector<std::string> not_built;  // vectors better than the used ones that other builds have kernels for

  /// What the level leaves out of what the machine has: "AVX3", "byte products".
  std::vector<std::string> LeftOut() const;
  /// The level's name where it leaves something out, else "".
  std::string Restriction() const;
};

/// Reads LAMINA_ISA at the first call, from where on Highway keeps to it. To be called before anything that
/// Highway chooses. Thread-safe. Throws Error(kInvalidArgument), at every call, where LAMINA_ISA names no level.
const InstructionSetUse& ApplyInstructionSets();

}  // namespace lamina::cpu
