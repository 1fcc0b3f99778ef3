// z = W x with weights in panels: of one row, and of tiles of rows that read a panel together.
#if defined(LAMINA_BACKEND_CPU_ROW_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_ROW_PANELS_INL_H_
#undef LAMINA_BACKEND_CPU_ROW_PANELS_INL_H_
#else
#define LAMINA_BACKEND_CPU_ROW_PANELS_INL_H_
#endif

#include <cstring>
#include <type_traits>

#include "lamina/backend/cpu/row_task.h"
#include "lamina/backend/cpu/row_weights-inl.h"
#include "lamina/backend/cpu/vec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// Where the sums of a tile of rows go: `count` neurons from `begin` on, of a panel of `width`.
struct RowTilePlace {
  int64_t begin;
  int64_t count;
  int64_t width;
};

// Asks for the cache lines of a group's weights.
template <int64_t kBytes>
HWY_INLINE void PrefetchGroup(const void* at) {
  const auto* const bytes = static_cast<const char*>(at);
  HWY_UNROLL(8)
  for (int64_t i = 0; i < kBytes; i += 64) {
    __builtin_prefetch(bytes + i, 0, 3);
  }
}

// Calls add(group, its weights) for the groups of a panel that are read. `width`: elements of a group. Where all are
// read the processor foresees it: asking for them as well took 1.25 times as long on Zen 4.
template <int64_t kBytes, class Element, class Add>
HWY_INLINE void ForGroups(const RowGroups& groups, const Element* w, int64_t width, const Add& add) {
  if (groups.list == nullptr) {
    for (int64_t g = 0; g < groups.count; ++g, w += width) {
      add(g, w);
    }
  } else {
    for (int64_t i = 0; i < groups.count; ++i) {
      PrefetchGroup<kBytes>(w + groups.list[i + kGroupsAhead] * width);
      add(groups.list[i], w + groups.list[i] * width);
    }
  }
}

// The sums of a row's panel to their places: `count` neurons from `begin` on.
template <int kVectors, class T>
HWY_INLINE void StoreRowSums(const RowTask& task, int64_t row, int64_t begin, int64_t count, const VecOf<T>* sums,
                             T scale) {
  const Tag<T> d;
  T* const to = static_cast<T*>(task.sums) + row * task.outputs + begin;
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) {
    auto sum = sums[v];
    if constexpr (sizeof(T) == sizeof(float)) {
      if (task.scales != nullptr) {
        sum = hn::Mul(sum, hn::Mul(hn::Set(d, scale), hn::LoadU(d, task.scales + begin + v * kLanes<T>)));
      }
    }
    const int64_t left = count - v * kLanes<T>;
    if (left >= kLanes<T>) {
      hn::StoreU(sum, d, to + v * kLanes<T>);
    } else if (left > 0) {
      StoreTail<T>(sum, to + v * kLanes<T>, left);
    }
  }
}

template <class Weights, int kVectors>
HWY_NOINLINE void RowPanelSums(const RowTask& task, const typename Weights::Element* w, int64_t row, int64_t begin,
                               int64_t count) {
  using T = typename Weights::Number;
  constexpr int64_t kBytes = kVectors * kLanes<T> * Weights::kGroup * static_cast<int64_t>(sizeof(*w));
  const T* const x = static_cast<const T*>(task.x) + row * task.x_stride;
  VecOf<T> sums[kVectors];
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) {
    sums[v] = hn::Zero(Tag<T>());
  }
  ForGroups<kBytes>(task.groups[row], w, count * Weights::kGroup,
                    [&](int64_t g, const typename Weights::Element* at)
                        HWY_ATTR { Weights::template Add<kVectors>(at, x + g * Weights::kGroup, sums); });
  if constexpr (HasRoot<Weights>) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = hn::Sqrt(sums[v]);
    }
  }
  StoreRowSums<kVectors, T>(task, row, begin, count, sums, T(1));
}

// The same of the rows of a tile, for kVectors vectors of the panel. There are no scales of such weights.
template <class Weights, int kRows, int kVectors>
HWY_NOINLINE void RowTileSums(const RowTask& task, const typename Weights::Element* w, int64_t tile, RowTilePlace at) {
  using T = typename Weights::Number;
  constexpr int64_t kBytes = kVectors * kLanes<T> * Weights::kGroup * static_cast<int64_t>(sizeof(*w));
  const int64_t stride = task.x_stride;
  const int64_t row = RowTiles{task.rows, kRows}.Begin(tile);
  const T* const x = static_cast<const T*>(task.x) + row * stride;
  VecOf<T> sums[kRows][kVectors];
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::Zero(Tag<T>());
    }
  }
  ForGroups<kBytes>(task.groups[tile], w, at.width * Weights::kGroup,
                    [&](int64_t g, const typename Weights::Element* group)
                        HWY_ATTR { Weights::AddToRows(group, x + g * Weights::kGroup, stride, sums); });
  constexpr int64_t kWidth = kVectors * kLanes<T>;
  T* const to = static_cast<T*>(task.sums) + row * task.outputs + at.begin;
  const auto store = [&](T* first, int64_t width) HWY_ATTR {
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      HWY_UNROLL(8)
      for (int v = 0; v < kVectors; ++v) {
        hn::StoreU(sums[r][v], Tag<T>(), first + r * width + v * kLanes<T>);
      }
    }
  };
  if (at.count >= kWidth) {
    store(to, task.outputs);
    return;
  }
  HWY_ALIGN T all[kRows * kWidth];
  store(all, kWidth);
  for (int64_t r = 0; r < kRows && at.count > 0; ++r) {
    std::memcpy(to + r * task.outputs, all + r * kWidth, static_cast<size_t>(at.count) * sizeof(T));
  }
}

#if defined(LAMINA_FEW_ROW_PANELS)
// The predict library has kernels of all widths for exact weights in f32 alone. Others sum for one vector more than a
// panel has, or where there are no vectors for up to three numbers, which nobody stores.
inline constexpr bool kFewRowPanels = true;
#else
inline constexpr bool kFewRowPanels = false;
#endif

// Whether there is a kernel of each number of vectors.
template <class Weights>
inline constexpr bool kAllRowPanels = !kFewRowPanels || std::is_same_v<Weights, RowWeightsAsTheyAre<float>>;

// Whether several rows read these weights together. All others read a panel row by row while it is in the cache.
template <class Weights>
inline constexpr bool kInTilesOfRows = false;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
template <>
inline constexpr bool kInTilesOfRows<RowWeightsAsTheyAre<float>> = true;
template <>
inline constexpr bool kInTilesOfRows<RowWeightsBF16> = true;
template <>
inline constexpr bool kInTilesOfRows<RowWeightsWidened<WidenF16>> = !kFewRowPanels;
#endif

constexpr int RowPanelVectors(int vectors) {
  return HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 ? (vectors + 3) / 4 * 4 : (vectors + 1) / 2 * 2;
}

// Calls panel(std::integral_constant vectors, first weight, first neuron, neurons) for every panel. `elements`: of a
// neuron in a panel. kAll: there is a kernel of each number of vectors.
template <class Element, bool kAll, class Fn>
HWY_INLINE void ForRowPanels(const RowTask& task, int64_t lanes, int64_t elements, const Fn& panel) {
  const auto* w = static_cast<const Element*>(task.weights);
  for (int64_t p = 0; p < RowPanels(task.outputs, lanes); ++p) {
    const auto [begin, end] = RowPanelAt(p, task.outputs, lanes);
    const int64_t count = end - begin;
    const auto call = [&, first = begin](auto vectors) HWY_ATTR {  // clang 14 captures no binding by reference
      panel(std::integral_constant < int, kAll ? vectors.value : RowPanelVectors(vectors.value) > (), w, first, count);
    };
    switch ((count + lanes - 1) / lanes) {
      case 4: call(std::integral_constant<int, 4>()); break;
      case 5: call(std::integral_constant<int, 5>()); break;
      case 6: call(std::integral_constant<int, 6>()); break;
      case 7: call(std::integral_constant<int, 7>()); break;
      default: call(std::integral_constant<int, 8>()); break;
    }
    w += elements * count;
  }
}

// Vectors of a panel whose sums for kTileOfRows rows fit into the registers.
inline constexpr int kRowTileVectors =
    HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON ? 4 : 2;

template <class Weights>
using RowTileFunction = void (*)(const RowTask&, const typename Weights::Element*, int64_t tile, RowTilePlace);

template <class Weights, int kVectors>
RowTileFunction<Weights> RowTileFunctionOf(int64_t rows) {
  if constexpr (!kFewRowPanels) {
    if (rows < kTileOfRows) {
      return rows == 2 ? &RowTileSums<Weights, 2, kVectors> : &RowTileSums<Weights, 4, kVectors>;
    }
  }
  return &RowTileSums<Weights, static_cast<int>(kTileOfRows), kVectors>;
}

// Chooses among the widths that RowTilesOfPanel() has.
template <class Weights>
RowTileFunction<Weights> RowTileFunctionOf(int64_t rows, int64_t vectors) {
  constexpr int kLess = kRowTileVectors / 2;  // what is left of five vectors
  if constexpr (kAllRowPanels<Weights>) {
    if (vectors == kLess) {
      return RowTileFunctionOf<Weights, kLess>(rows);
    }
  }
  if constexpr (kRowTileVectors > 2) {
    if (vectors < kRowTileVectors) {
      return RowTileFunctionOf<Weights, kRowTileVectors - 1>(rows);
    }
  }
  return RowTileFunctionOf<Weights, kRowTileVectors>(rows);
}

// A panel of four vectors or more in nearly equal parts, each for all rows.
template <class Weights>
HWY_NOINLINE void RowTilesOfPanel(const RowTask& task, const typename Weights::Element* w, RowTilePlace at,
                                  int64_t vectors) {
  const int64_t tiles = RowTiles{task.rows, task.tile_rows}.count();
  while (vectors > 0) {
    const int64_t parts = (vectors + kRowTileVectors - 1) / kRowTileVectors;
    const int64_t first = (vectors + parts - 1) / parts;
    const RowTileFunction<Weights> sum_tile = RowTileFunctionOf<Weights>(task.tile_rows, first);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      sum_tile(task, w, tile, at);
    }
    const int64_t neurons = first * kLanes<typename Weights::Number>;
    w += neurons * Weights::kGroup;
    at = {at.begin + neurons, at.count - neurons, at.width};
    vectors -= first;
  }
}

// A panel of all rows, one by one.
template <class Element>
HWY_NOINLINE void SumRows(const RowTask& task, const Element* w, int64_t begin, int64_t count,
                          void (*sum_row)(const RowTask&, const Element*, int64_t row, int64_t begin, int64_t count)) {
  for (int64_t row = 0; row < task.rows; ++row) {
    sum_row(task, w, row, begin, count);
  }
}

template <class Weights>
void RowInPanels(const RowTask& task) noexcept {
  using Element = typename Weights::Element;
  constexpr int64_t kGroup = Weights::kGroup;
  const int64_t elements = (task.inputs + kGroup - 1) / kGroup * kGroup;
  ForRowPanels<Element, kAllRowPanels<Weights>>(
      task, kLanes<typename Weights::Number>, elements,
      [&](auto vectors, const Element* w, int64_t begin, int64_t count) HWY_ATTR {
        if constexpr (kInTilesOfRows<Weights>) {
          if (task.tile_rows > 1) {
            return RowTilesOfPanel<Weights>(task, w, {begin, count, count}, vectors.value);
          }
        }
        SumRows<Element>(task, w, begin, count, &RowPanelSums<Weights, vectors.value>);
      });
}

// Weights that are most often 0, in lists.
template <class T>
void RowInLists(const RowTask& task) noexcept {
  const Tag<T> d;
  const T* const weights = static_cast<const T*>(task.weights);
  for (int64_t begin = 0; begin < task.outputs; begin += kLanes<T>) {
    const int64_t* const ends = task.list_begin + begin / kLanes<T>;
    for (int64_t row = 0; row < task.rows; ++row) {
      const T* const x = static_cast<const T*>(task.x) + row * task.x_stride;
      auto sum = hn::Zero(d);
      for (int64_t i = ends[0]; i < ends[1]; ++i) {
        sum = hn::MulAdd(hn::Set(d, x[task.listed[i]]), hn::LoadU(d, weights + i * kLanes<T>), sum);
      }
      StoreRowSums<1, T>(task, row, begin, task.outputs - begin, &sum, T(1));
    }
  }
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
