// The micro-kernel on AMX tiles: up to 2 x 2 of them, 16 x 16 sums each, over packed operands. Eight tiles: four of
// sums, two of each operand, so that four products take four loads.
#if defined(LAMINA_BACKEND_CPU_AMX_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_AMX_TILE_INL_H_
#undef LAMINA_BACKEND_CPU_AMX_TILE_INL_H_
#else
#define LAMINA_BACKEND_CPU_AMX_TILE_INL_H_
#endif

#include "lamina/backend/cpu/amx_kernels.h"
#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3  // every processor with AMX has AVX-512

inline constexpr int64_t kTileElements = kAmxSide * kAmxSide;
inline constexpr int64_t kAmxRowBytes = 64;

/// While it lives, the calling thread has eight tiles of 16 rows of 64 bytes. Tiles in use make switching threads and
/// sleeping dearer.
class TilesInUse {
 public:
  TilesInUse() {
    alignas(64) Config config;
    std::fill_n(config.row_bytes, kTiles, static_cast<uint16_t>(kAmxRowBytes));
    std::fill_n(config.rows, kTiles, static_cast<uint8_t>(kAmxSide));
    asm volatile("ldtilecfg %0" : : "m"(config));
  }
  ~TilesInUse() { asm volatile("tilerelease"); }
  TilesInUse(const TilesInUse&) = delete;
  TilesInUse& operator=(const TilesInUse&) = delete;

 private:
  static constexpr int kTiles = 8;
  struct Config {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t rows[16] = {};
  };
  static_assert(sizeof(Config) == 64);
};

// By name, as the other instructions that Highway 1.0 has no target for (encode-inl.h).

template <int kTile>
HWY_INLINE void LoadTile(const void* from, int64_t stride_bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride_bytes), "i"(kTile) : "memory");
}
template <int kTile>
HWY_INLINE void StoreTile(void* to, int64_t stride_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride_bytes), "i"(kTile) : "memory");
}
template <int kTile>
HWY_INLINE void ClearTile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}

/// A product of a part of the rows and a part of the columns: an operand is the sum of its parts.
struct PartProduct {
  int row, column;
};

/// x w of 2 bf16 a lane, summed in f32. Denormal inputs and results count as 0. Products that follow each other differ
/// in one part only, so that the other stays in its tiles.
template <PartProduct... kList>
struct BFloat16Tiles {
  using Lane = float;
  static constexpr std::array kProducts{kList...};

  template <int kSum, int kRow, int kColumn>
  static HWY_INLINE void Multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRow), "i"(kColumn));
  }
};
using RoundedTiles = BFloat16Tiles<PartProduct{0, 0}>;
/// All but the product of what rounding leaves out of both.
using SplitTiles = BFloat16Tiles<PartProduct{1, 0}, PartProduct{0, 0}, PartProduct{0, 1}>;
/// All of them.
using WholeHalfTiles = BFloat16Tiles<PartProduct{1, 1}, PartProduct{1, 0}, PartProduct{0, 0}, PartProduct{0, 1}>;
/// All but the products below 2^-24 of the largest, which comes last.
using WholeTiles = BFloat16Tiles<PartProduct{2, 0}, PartProduct{1, 0}, PartProduct{1, 1}, PartProduct{0, 1},
                                 PartProduct{0, 2}, PartProduct{0, 0}>;

/// x w of 4 bytes a lane, both signed or both unsigned, summed in i32.
template <bool kSigned>
struct ByteTiles {
  using Lane = int32_t;
  static constexpr std::array kProducts{PartProduct{0, 0}};

  template <int kSum, int kRow, int kColumn>
  static HWY_INLINE void Multiply() {
    if constexpr (kSigned) {
      asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRow), "i"(kColumn));
    } else {
      asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kRow), "i"(kColumn));
    }
  }
};

/// Parts of an operand.
template <class Tiles>
inline constexpr int kParts = [] {
  int most = 0;
  for (const PartProduct& product : Tiles::kProducts) {
    most = std::max({most, product.row, product.column});
  }
  return most + 1;
}();

/// What a block of sums reads: for every 16 rows or columns (a group) and part, `steps` tiles one after the other.
template <class T>
struct AmxInput {
  const T* rows;
  const T* columns;
  int64_t steps;

  int64_t part_size() const { return steps * kTileElements; }
};

// fn<i, j>() for each tile of sums.
template <int kRows, int kColumns, class Fn>
HWY_INLINE void ForSums(const Fn& fn) {
  fn.template operator()<0, 0>();
  if constexpr (kColumns > 1) {
    fn.template operator()<0, 1>();
  }
  if constexpr (kRows > 1) {
    fn.template operator()<1, 0>();
  }
  if constexpr (kRows > 1 && kColumns > 1) {
    fn.template operator()<1, 1>();
  }
}

// Tiles kFirst and, of two groups, kFirst + 1.
template <int kFirst, int kGroups, class T>
HWY_INLINE void LoadGroups(const T* first, int64_t group_size) {
  LoadTile<kFirst>(first, kAmxRowBytes);
  if constexpr (kGroups > 1) {
    LoadTile<kFirst + 1>(first + group_size, kAmxRowBytes);
  }
}

// Products kIndex and on of one step.
template <class Tiles, int kRows, int kColumns, size_t kIndex = 0, class T = typename Tiles::Lane>
HWY_INLINE void MultiplyStep(const AmxInput<T>& in, int64_t step) {
  constexpr PartProduct kProduct = Tiles::kProducts[kIndex];
  constexpr PartProduct kBefore = kIndex == 0 ? PartProduct{-1, -1} : Tiles::kProducts[kIndex - (kIndex > 0)];
  const int64_t group_size = kParts<Tiles> * in.part_size();
  if constexpr (kProduct.row != kBefore.row) {
    LoadGroups<4, kRows>(in.rows + kProduct.row * in.part_size() + step * kTileElements, group_size);
  }
  if constexpr (kProduct.column != kBefore.column) {
    LoadGroups<6, kColumns>(in.columns + kProduct.column * in.part_size() + step * kTileElements, group_size);
  }
  ForSums<kRows, kColumns>([]<int i, int j>() { Tiles::template Multiply<2 * i + j, 4 + i, 6 + j>(); });
  if constexpr (kIndex + 1 < Tiles::kProducts.size()) {
    MultiplyStep<Tiles, kRows, kColumns, kIndex + 1>(in, step);
  }
}

/// sums[i * 16 * kColumns + j] = or, with `add`, += the sum over k; 16 * kRows rows. TilesInUse.
template <class Tiles, int kRows, int kColumns, class T = typename Tiles::Lane>
HWY_NOINLINE void AmxBlock(const AmxInput<T>& input, T* sums, bool add) {
  const AmxInput<T> in = input;  // which no instruction can change
  constexpr int64_t kStride = kColumns * kAmxRowBytes;
  const auto at = [&](int i, int j) { return sums + (i * kAmxSide * kColumns + j) * kAmxSide; };
  if (add) {
    ForSums<kRows, kColumns>([&]<int i, int j>() { LoadTile<2 * i + j>(at(i, j), kStride); });
  } else {
    ForSums<kRows, kColumns>([]<int i, int j>() { ClearTile<2 * i + j>(); });
  }
  for (int64_t step = 0; step < in.steps; ++step) {
    MultiplyStep<Tiles, kRows, kColumns>(in, step);
  }
  ForSums<kRows, kColumns>([&]<int i, int j>() { StoreTile<2 * i + j>(at(i, j), kStride); });
}

/// The kernel for so many groups of rows and columns, 1 or 2.
template <class Tiles, class T = typename Tiles::Lane>
HWY_INLINE auto AmxBlockFor(int64_t rows, int64_t columns) -> void (*)(const AmxInput<T>&, T*, bool) {
  if (rows == 1) {
    return columns == 1 ? &AmxBlock<Tiles, 1, 1> : &AmxBlock<Tiles, 1, 2>;
  }
  return columns == 1 ? &AmxBlock<Tiles, 2, 1> : &AmxBlock<Tiles, 2, 2>;
}

#endif

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
