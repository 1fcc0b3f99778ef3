// The levels of LAMINA_ISA, and what of them this machine has.
#include "lamina/backend/cpu/instruction_sets.h"

#include "lamina/backend/cpu/highway_targets.h"
//
#include <fmt/format.h>
#include <hwy/targets.h>

#include <array>
#include <cstdlib>

#include "lamina/backend/cpu/amx_support.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/cpu/x86_features.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace cpu {
namespace {

constexpr int64_t kLeast = HWY_STATIC_TARGET;  // scalar where the compiler may assume no vectors that Highway has
constexpr int64_t kAvx2 = kLeast | HWY_SSSE3 | HWY_SSE4 | HWY_AVX2;
// NOLINTNEXTLINE(misc-redundant-expression): a Highway that does not know the last two has 0 for both
constexpr int64_t kAvx512 = kAvx2 | HWY_AVX3 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR;

constexpr std::array kLevels{
    InstructionLevel{"scalar", {.targets = kLeast}},
    InstructionLevel{"avx2", {.targets = kAvx2}},
    InstructionLevel{"avx512", {.targets = kAvx512}},
    InstructionLevel{"avx512_vnni", {.targets = kAvx512, .byte_products = true}},
    InstructionLevel{"avx512_bf16", {.targets = kAvx512, .byte_products = true, .bf16_products = true}},
    InstructionLevel{"amx", {kAvx512, true, true, true, true}},
    InstructionLevel{"neon", {.targets = kLeast | HWY_NEON}},
};

// Best first.
std::vector<std::string> TargetNames(int64_t targets) {
  std::vector<std::string> names;
  for (auto left = static_cast<uint64_t>(targets); left != 0; left &= left - 1) {
    names.emplace_back(hwy::TargetName(static_cast<int64_t>(left & (~left + 1))));
  }
  return names;
}

// Tiles as the processor has them: the system is asked only where a level allows them.
InstructionSets OfMachine(std::string* why_no_tiles) {
  InstructionSets machine;
  machine.targets = hwy::SupportedTargets() & HWY_TARGETS;
#if defined(__x86_64__)
  const bool has_avx512_kernels = (machine.targets & HWY_AVX3) != 0;  // only they use these instructions
  const X86Features features = ReadX86Features();
  machine.byte_products = has_avx512_kernels && features.byte_products;
  machine.bf16_products = has_avx512_kernels && features.bf16_products;
#endif
  const AmxSupport amx = FindAmx();
  *why_no_tiles = amx.why_not;
  if (amx.why_not.empty() && !machine.bf16_products) {  // a virtual machine, perhaps: no processor is like that
    *why_no_tiles = "AMX without AVX-512 BF16, by which its kernels round";
  }
  machine.bf16_tiles = amx.bf16 && machine.bf16_products;
  machine.byte_tiles = amx.bytes && machine.bf16_products;
  return machine;
}

InstructionSetUse Apply() {
  InstructionSetUse use;
  const int64_t supported = hwy::SupportedTargets();
  use.machine = use.used = OfMachine(&use.why_no_tiles);
  if (const char* name = std::getenv("LAMINA_ISA"); name != nullptr && *name != '\0') {
    use.level = &InstructionLevelOf(name);
    use.used = use.machine & use.level->allowed;
    hwy::DisableTargets(~use.level->allowed.targets);
    // Asking Highway 1.0.3 what is supported chooses without the mask, so this is the last time.
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  const int64_t allowed = use.level == nullptr ? kAvx512 : use.level->allowed.targets;
  const int64_t better = (use.used.targets & -use.used.targets) - 1;  // better ones have lower bits
  use.not_built = TargetNames(supported & LAMINA_LEFT_OUT_TARGETS & allowed & better);
  if (use.used.bf16_tiles || use.used.byte_tiles) {
    use.why_no_tiles = AskForTiles();
    for (InstructionSets* sets : {&use.machine, &use.used}) {
      sets->bf16_tiles = sets->bf16_tiles && use.why_no_tiles.empty();
      sets->byte_tiles = sets->byte_tiles && use.why_no_tiles.empty();
    }
  }
  return use;
}

}  // namespace

InstructionSets operator&(const InstructionSets& a, const InstructionSets& b) {
  return {a.targets & b.targets, a.byte_products && b.byte_products, a.bf16_products && b.bf16_products,
          a.bf16_tiles && b.bf16_tiles, a.byte_tiles && b.byte_tiles};
}

std::span<const InstructionLevel> InstructionLevels() { return kLevels; }

const InstructionLevel& InstructionLevelOf(std::string_view name) {
  std::vector<std::string> names;
  for (const InstructionLevel& level : kLevels) {
    if (level.name == name) {
      return level;
    }
    names.emplace_back(level.name);
  }
  throw Error(ErrorCode::kInvalidArgument, "LAMINA_ISA names no instruction set",
              {.value = std::string(name),
               .remedy = fmt::format("{}Known: {}.", DidYouMean(name, names), fmt::join(names, ", "))});
}

std::vector<std::string> InstructionSetUse::LeftOut() const {
  std::vector<std::string> names = TargetNames(machine.targets & ~used.targets);
  if (machine.byte_products && !used.byte_products) {
    names.emplace_back("byte products");
  }
  if (machine.bf16_products && !used.bf16_products) {
    names.emplace_back("bf16 products");
  }
  if (machine.bf16_tiles && !used.bf16_tiles) {
    names.emplace_back("bf16 tiles");
  }
  if (machine.byte_tiles && !used.byte_tiles) {
    names.emplace_back("byte tiles");
  }
  return names;
}

std::string InstructionSetUse::Restriction() const { return machine == used ? "" : std::string(level->name); }

const InstructionSetUse& ApplyInstructionSets() {
  static const InstructionSetUse use = Apply();
  return use;
}

}  // namespace cpu

std::vector<std::string> CpuTargets() { return cpu::TargetNames(cpu::ApplyInstructionSets().used.targets); }

}  // namespace lamina
