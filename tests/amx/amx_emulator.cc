// Decodes VEX map 2 opcodes 49, 4B, 5C and 5E at the address of the trap, after Intel's Software Developer's Manual.
// Executes them on tiles in memory.
#include "tests/amx/amx_emulator.h"

#if defined(__x86_64__) && defined(__linux__)

#include <ucontext.h>
#include <xmmintrin.h>
#include <csignal>

#include <atomic>
#include <cmath>
#include <cstring>

#include "lamina/backend/cpu/amx_support.h"

namespace lamina::amx_emulated {
namespace {

constexpr int kTiles = 8;
constexpr int kMostRows = 16;
constexpr int kMostRowBytes = 64;

// The operand of LDTILECFG.
struct TileConfig {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64);

struct Tile {
  uint8_t bytes[kMostRows][kMostRowBytes];

  template <class T>
  T At(int row, int column) const {
    T value;
    std::memcpy(&value, bytes[row] + column * static_cast<int>(sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  void Set(int row, int column, T value) {
    std::memcpy(bytes[row] + column * static_cast<int>(sizeof(T)), &value, sizeof(T));
  }
};

struct Tiles {
  TileConfig config;  // palette 0: none
  Tile tile[kTiles];

  int Rows(int t) const { return config.rows[t]; }
  int RowBytes(int t) const { return config.row_bytes[t]; }
  bool Usable(int t) const { return config.palette == 1 && t < kTiles && Rows(t) > 0 && RowBytes(t) > 0; }
};

thread_local Tiles tiles{};
std::atomic<int64_t> executed{0};
std::atomic<int> living{0};
struct sigaction before;

// Denormals are 0 and results to nearest even, whatever the thread has set. The handler's own setting ends with it.
void SetArithmetic() {
  constexpr unsigned kFlush = 0x8000, kDenormalsAreZero = 0x40, kNoTraps = 0x1F80;
  _mm_setcsr(kFlush | kDenormalsAreZero | kNoTraps);
}

uint8_t* AddressIn(int64_t number) {
  uint8_t* address;
  std::memcpy(&address, &number, sizeof(address));
  return address;
}

// An instruction: VEX prefix of three bytes, opcode, ModRM, SIB, displacement.
struct Instruction {
  int opcode, prefix, tile, other_tile, third_tile, length;
  bool in_registers;
  uint8_t* base;
  int64_t index;  // bytes from row to row

  // False where it is none of AMX.
  bool Decode(const uint8_t* at, const greg_t* registers) {
    if (at[0] != 0xC4 || (at[1] & 31) != 2) {
      return false;
    }
    static constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                         REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    const int extend_index = (at[1] & 0x40) == 0 ? 8 : 0;
    const int extend_base = (at[1] & 0x20) == 0 ? 8 : 0;
    const int mode = at[4] >> 6;
    const int low = at[4] & 7;
    prefix = at[2] & 3;
    opcode = at[3];
    tile = (at[4] >> 3) & 7;
    other_tile = low;
    third_tile = (~at[2] >> 3) & 15;
    in_registers = mode == 3;
    length = 5;
    base = nullptr;
    index = 0;
    if (in_registers) {
      return true;
    }
    const auto displacement = [&] {
      int32_t value;
      std::memcpy(&value, at + length, sizeof(value));
      length += 4;
      return value;
    };
    if (low == 4) {
      const int sib = at[length++];
      const int index_register = ((sib >> 3) & 7) | extend_index;
      if (index_register != 4) {
        index = registers[kRegisters[index_register]] << (sib >> 6);
      }
      base = (sib & 7) == 5 && mode == 0 ? AddressIn(displacement())
                                         : AddressIn(registers[kRegisters[(sib & 7) | extend_base]]);
    } else if (low == 5 && mode == 0) {
      const int32_t relative = displacement();
      base = const_cast<uint8_t*>(at) + length + relative;
    } else {
      base = AddressIn(registers[kRegisters[low | extend_base]]);
    }
    if (mode == 1) {
      base += static_cast<int8_t>(at[length++]);
    } else if (mode == 2) {
      base += displacement();
    }
    return true;
  }
};

bool Configure(const uint8_t* from) {
  TileConfig config;
  std::memcpy(&config, from, sizeof(config));
  for (int t = 0; t < 16; ++t) {
    const bool none = config.rows[t] == 0 && config.row_bytes[t] == 0;
    if (config.rows[t] > kMostRows || config.row_bytes[t] > kMostRowBytes || (t >= kTiles && !none)) {
      return false;
    }
  }
  for (const uint8_t byte : config.reserved) {
    if (byte != 0) {
      return false;
    }
  }
  if (config.palette > 1) {
    return false;
  }
  std::memset(&tiles, 0, sizeof(tiles));
  if (config.palette == 1) {
    tiles.config = config;
  }
  return true;
}

// LDTILECFG, STTILECFG, TILERELEASE, TILEZERO.
bool Control(const Instruction& at) {
  if (at.prefix == 0 && at.in_registers) {
    std::memset(&tiles, 0, sizeof(tiles));
  } else if (at.prefix == 0) {
    return Configure(at.base);
  } else if (at.prefix == 1 && !at.in_registers) {
    std::memcpy(at.base, &tiles.config, sizeof(tiles.config));
  } else if (at.prefix == 3 && at.in_registers && tiles.Usable(at.tile)) {
    std::memset(&tiles.tile[at.tile], 0, sizeof(Tile));
  } else {
    return false;
  }
  return true;
}

// TILELOADD, TILELOADDT1, TILESTORED.
bool Move(const Instruction& at) {
  if (at.in_registers || at.prefix == 0 || !tiles.Usable(at.tile)) {
    return false;
  }
  Tile& tile = tiles.tile[at.tile];
  const bool store = at.prefix == 2;
  if (!store) {
    std::memset(&tile, 0, sizeof(tile));
  }
  for (int r = 0; r < tiles.Rows(at.tile); ++r) {
    uint8_t* row = at.base + r * at.index;
    const auto bytes = static_cast<size_t>(tiles.RowBytes(at.tile));
    store ? std::memcpy(row, tile.bytes[r], bytes) : std::memcpy(tile.bytes[r], row, bytes);
  }
  return true;
}

// The shapes of sums += a b.
bool ShapesFit(const Instruction& at) {
  const int sums = at.tile;
  const int a = at.other_tile;
  const int b = at.third_tile;
  return at.in_registers && tiles.Usable(sums) && tiles.Usable(a) && tiles.Usable(b) && sums != a && sums != b &&
         a != b && tiles.Rows(sums) == tiles.Rows(a) && tiles.RowBytes(sums) == tiles.RowBytes(b) &&
         tiles.RowBytes(a) % 4 == 0 && tiles.RowBytes(a) / 4 == tiles.Rows(b) && tiles.RowBytes(b) % 4 == 0;
}

float Widened(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16U;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// TDPBF16PS: sums over the first and the second of each pair apart, both from 0; they and then the tile are added.
__attribute__((target("fma"))) bool MultiplyBFloat16(const Instruction& at) {
  if (at.prefix != 2 || !ShapesFit(at)) {
    return false;
  }
  Tile& sums = tiles.tile[at.tile];
  const Tile& a = tiles.tile[at.other_tile];
  const Tile& b = tiles.tile[at.third_tile];
  const int columns = tiles.RowBytes(at.tile) / 4;
  for (int m = 0; m < tiles.Rows(at.tile); ++m) {
    float chains[2 * kMostRowBytes / 4] = {};
    for (int k = 0; k < tiles.Rows(at.third_tile); ++k) {
      for (int n = 0; n < 2 * columns; ++n) {
        chains[n] = std::fma(Widened(a.At<uint16_t>(m, 2 * k + n % 2)), Widened(b.At<uint16_t>(k, n)), chains[n]);
      }
    }
    for (int n = 0; n < columns; ++n) {
      sums.Set(m, n, sums.At<float>(m, n) + (chains[2 * n] + chains[2 * n + 1]));
    }
  }
  return true;
}

// TDPBSSD, TDPBSUD, TDPBUSD, TDPBUUD: four products of bytes for each sum, which wraps.
bool MultiplyBytes(const Instruction& at) {
  if (!ShapesFit(at)) {
    return false;
  }
  const bool signed_a = at.prefix == 3 || at.prefix == 2;
  const bool signed_b = at.prefix == 3 || at.prefix == 1;
  Tile& sums = tiles.tile[at.tile];
  const Tile& a = tiles.tile[at.other_tile];
  const Tile& b = tiles.tile[at.third_tile];
  for (int m = 0; m < tiles.Rows(at.tile); ++m) {
    for (int n = 0; n < tiles.RowBytes(at.tile) / 4; ++n) {
      auto sum = sums.At<uint32_t>(m, n);
      for (int k = 0; k < tiles.Rows(at.third_tile); ++k) {
        for (int i = 0; i < 4; ++i) {
          const int x = signed_a ? a.At<int8_t>(m, 4 * k + i) : a.At<uint8_t>(m, 4 * k + i);
          const int y = signed_b ? b.At<int8_t>(k, 4 * n + i) : b.At<uint8_t>(k, 4 * n + i);
          sum += static_cast<uint32_t>(x * y);
        }
      }
      sums.Set(m, n, sum);
    }
  }
  return true;
}

bool Execute(const Instruction& at) {
  switch (at.opcode) {
    case 0x49: return Control(at);
    case 0x4B: return Move(at);
    case 0x5C: return MultiplyBFloat16(at);
    case 0x5E: return MultiplyBytes(at);
    default: return false;
  }
}

void OnIllegalInstruction(int, siginfo_t*, void* context) {
  SetArithmetic();
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Instruction at{};
  if (at.Decode(AddressIn(registers[REG_RIP]), registers) && Execute(at)) {
    registers[REG_RIP] += at.length;
    executed.fetch_add(1, std::memory_order_relaxed);
  } else {
    sigaction(SIGILL, &before, nullptr);  // the instruction again, and as without us
  }
}

}  // namespace

EmulatedAmx::EmulatedAmx() {
  if (!Emulates() || living++ > 0) {
    return;
  }
  struct sigaction action {};
  action.sa_sigaction = OnIllegalInstruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &before);
}

EmulatedAmx::~EmulatedAmx() {
  if (Emulates() && --living == 0) {
    sigaction(SIGILL, &before, nullptr);
  }
}

bool Emulates() {
  static const bool emulates = !cpu::AskForTiles().empty();
  return emulates;
}

int64_t ExecutedInstructions() { return executed.load(std::memory_order_relaxed); }
bool TilesInUse() { return tiles.config.palette != 0; }

}  // namespace lamina::amx_emulated

#else

namespace lamina::amx_emulated {

EmulatedAmx::EmulatedAmx() = default;
EmulatedAmx::~EmulatedAmx() = default;
bool Emulates() { return false; }
int64_t ExecutedInstructions() { return 0; }
bool TilesInUse() { return false; }

}  // namespace lamina::amx_emulated

#endif
