// LAMINA_ISA: its levels, and what they leave of a machine. Every kernel that more than a target chooses runs at every
// level against the oracle.
#include "lamina/backend/cpu/instruction_sets.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "lamina/backend/cpu/amx_support.h"
#include "lamina/backend/cpu/x86_features.h"
#include "tests/caught_error.h"
#include "tests/conformance/configurations.h"

namespace lamina::cpu {
namespace {

TEST(InstructionLevels, AreFoundByName) {
  std::set<std::string_view> names;
  for (const InstructionLevel& level : InstructionLevels()) {
    EXPECT_TRUE(names.insert(level.name).second) << level.name;
    EXPECT_EQ(&InstructionLevelOf(level.name), &level);
  }
}

TEST(InstructionLevels, UnknownNamesAreRefusedWithTheKnownOnes) {
  for (const char* name : {"avx51", "AVX2", " avx2", "", "fast"}) {
    const Error error = CaughtError([&] { InstructionLevelOf(name); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(Mentions(error.what(), "LAMINA_ISA"));
    for (const InstructionLevel& level : InstructionLevels()) {
      EXPECT_TRUE(Mentions(error.what(), std::string(level.name)));
    }
  }
  EXPECT_TRUE(Mentions(CaughtError([] { InstructionLevelOf("avx51"); }).what(), "Did you mean 'avx512'?"));
}

TEST(InstructionLevels, EveryOneAllowsTheLeastAndThoseOfX86WhatComesBefore) {
  const std::span<const InstructionLevel> levels = InstructionLevels();
  EXPECT_EQ(levels.front().allowed, InstructionSets{.targets = levels.front().allowed.targets});
  for (size_t i = 1; i < levels.size(); ++i) {
    const InstructionSets& before = levels[levels[i].name == "neon" ? 0 : i - 1].allowed;
    EXPECT_EQ(levels[i].allowed & before, before) << levels[i].name;
  }
}

TEST(InstructionLevels, OnlyTakeAway) {
  const InstructionSets all{~int64_t{0}, true, true, true, true};
  const InstructionSets least = InstructionLevels().front().allowed;
  for (const InstructionLevel& level : InstructionLevels()) {
    EXPECT_EQ(all & level.allowed, level.allowed) << level.name;
    EXPECT_EQ(least & level.allowed, least) << "more than the machine has is what it has: " << level.name;
    InstructionSetUse use;
    use.level = &level;
    use.machine = all;
    use.used = all & level.allowed;
    EXPECT_EQ(use.Restriction(), level.name);
    const std::vector<std::string> left_out = use.LeftOut();
    const auto leaves_out = [&](const char* what) {
      return std::find(left_out.begin(), left_out.end(), what) != left_out.end();
    };
    if (const int64_t avx2 = conformance::TargetBit("AVX2"); avx2 != 0) {  // not known to Highway on Arm
      EXPECT_EQ(leaves_out("AVX2"), (level.allowed.targets & avx2) == 0);
    }
    EXPECT_EQ(leaves_out("byte products"), !level.allowed.byte_products);
    EXPECT_EQ(leaves_out("bf16 products"), !level.allowed.bf16_products);
    EXPECT_EQ(leaves_out("bf16 tiles"), !level.allowed.bf16_tiles);
    EXPECT_EQ(leaves_out("byte tiles"), !level.allowed.byte_tiles);
    use.machine = use.used = least;
    EXPECT_EQ(use.Restriction(), "") << level.name;
    EXPECT_TRUE(use.LeftOut().empty()) << level.name;
  }
}

TEST(InstructionSets, AreThoseOfTheMachineThatTheLevelAllows) {
  const InstructionSetUse& use = ApplyInstructionSets();
  const char* name = std::getenv("LAMINA_ISA");
  ASSERT_EQ(use.level != nullptr, name != nullptr && *name != '\0');
  EXPECT_EQ(use.used, use.level == nullptr ? use.machine : use.machine & use.level->allowed);
  int64_t targets = 0;
  for (const std::string& target : CpuTargets()) {
    targets |= conformance::TargetBit(target);
  }
  EXPECT_EQ(targets, use.used.targets);
  EXPECT_NE(targets, 0);
  EXPECT_TRUE(Mentions(MakeBackend("cpu")->Describe(), "cpu: " + CpuTargets().front())) << "not the kernels in use";
}

#if defined(__x86_64__)
TEST(X86Features, NeedTheProcessorAndASystemThatSavesTheRegisters) {
  const CpuidRegisters all{~0U, ~0U, ~0U, ~0U};
  const CpuidRegisters none;
  const auto of = [&](uint64_t saved) { return X86FeaturesOf(saved, all, all, all, all); };
  EXPECT_TRUE(of(0xE7).avx512 && of(0xE7).byte_products && of(0xE7).bf16_products && of(0x07).avx2);
  for (const uint64_t saved : {0x07U, 0x27U, 0x67U, 0xA7U, 0xC7U}) {
    EXPECT_FALSE(of(saved).avx512 || of(saved).byte_products || of(saved).bf16_products) << saved;
  }
  EXPECT_FALSE(of(0x03).avx2 || of(0xE3).avx2 || of(0xE3).avx512);
  EXPECT_FALSE(X86FeaturesOf(0xE7, none, all, all, all).avx512);
  EXPECT_FALSE(X86FeaturesOf(0xE7, all, all, all, none).avx2);
  EXPECT_TRUE(X86FeaturesOf(0xE7, all, all, none, all).byte_products);
  EXPECT_FALSE(X86FeaturesOf(0xE7, all, all, none, all).bf16_products);
}

TEST(X86Features, AreThoseThatTheCompilersRuntimeFinds) {
  const X86Features features = ReadX86Features();
  EXPECT_EQ(features.avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes"));
  EXPECT_EQ(features.avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512cd"));
  EXPECT_EQ(features.byte_products, features.avx512 && __builtin_cpu_supports("avx512vnni"));
  EXPECT_EQ(features.bf16_products, features.avx512 && __builtin_cpu_supports("avx512bf16"));
}
#endif

TEST(Amx, IsFoundByProcessorAndSystem) {
  constexpr uint32_t kBf16 = 1U << 22U, kTile = 1U << 24U, kInt8 = 1U << 25U;
  constexpr uint64_t kSaved = 0x600E7;  // of Sapphire Rapids on Linux: x87, SSE, AVX, AVX-512, tiles
  struct Case {
    uint32_t edx;
    uint64_t saved;
    bool bf16, bytes;
  };
  for (const Case& c : {Case{kBf16 | kTile | kInt8, kSaved, true, true}, Case{kBf16 | kTile, kSaved, true, false},
                        Case{kTile | kInt8, kSaved, false, true}, Case{kTile, kSaved, false, false},
                        Case{kBf16 | kInt8, kSaved, false, false}, Case{0, 0, false, false},
                        Case{kBf16 | kTile | kInt8, 0xE7, false, false},
                        Case{kBf16 | kTile | kInt8, kSaved & ~0x20000ULL, false, false},
                        Case{kBf16 | kTile | kInt8, 0, false, false}}) {
    const AmxSupport found = AmxSupportOf(c.edx, c.saved);
    EXPECT_EQ(found.bf16, c.bf16) << c.edx << " " << c.saved;
    EXPECT_EQ(found.bytes, c.bytes) << c.edx << " " << c.saved;
    EXPECT_EQ(found.why_not.empty(), c.bf16 || c.bytes);
  }
  EXPECT_TRUE(Mentions(AmxSupportOf(0, kSaved).why_not, "processor"));
  EXPECT_TRUE(Mentions(AmxSupportOf(kBf16 | kTile, 0xE7).why_not, "system"));
}

TEST(Amx, IsUsedOnlyWhereTheProcessorHasItAndElseSaysWhy) {
  const InstructionSetUse& use = ApplyInstructionSets();
  const bool tiles = use.machine.bf16_tiles || use.machine.byte_tiles;
  EXPECT_EQ(use.why_no_tiles.empty(), tiles);
  const AmxSupport found = FindAmx();
  EXPECT_LE(use.machine.bf16_tiles, found.bf16);
  EXPECT_LE(use.machine.byte_tiles, found.bytes);
  if (!found.bf16 && !found.bytes) {
    EXPECT_EQ(use.why_no_tiles, found.why_not);
    EXPECT_NE(AskForTiles(), "") << "granted without tiles";
  }
}

// This program again, as LAMINA_ISA is read once; levels that are the same on this machine are run once, too.
TEST(SlowInstructionLevels, ComputeAsTheOracle) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<InstructionSets> ran;
  for (const InstructionLevel& level : InstructionLevels()) {
    const InstructionSets used = ApplyInstructionSets().machine & level.allowed;
    if (std::find(ran.begin(), ran.end(), used) != ran.end()) {
      continue;
    }
    ran.push_back(used);
    const std::string command = fmt::format(
        "LAMINA_ISA={} '{}' --gtest_brief=1 '--gtest_filter=InstructionSets.*:Targets.*:*MixedConformance*cpu*_1:"
        "*TypedConformance.IntegerSumsAreExact*cpu*_1' >/dev/null",
        level.name, self);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

}  // namespace
}  // namespace lamina::cpu
