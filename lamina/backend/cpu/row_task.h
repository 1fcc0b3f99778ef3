// Rows that are to be summed, and how they and the weights are cut: panels of neurons, tiles of rows.
#pragma once

#include <cstdint>

namespace lamina::cpu {

/// Vectors of neurons whose sums stand in registers.
inline constexpr int64_t kRowVectors = 8;
/// Panels of fewer vectors would wait for the additions' latency: such layers are read neuron by neuron.
inline constexpr int64_t kLeastRowVectors = 4;
/// How many groups ahead memory is asked for where some are left out; a list of groups repeats its last one as often.
inline constexpr int64_t kGroupsAhead = 12;

/// Kernels read as much beyond the weights.
inline constexpr int64_t kRowWeightsBehind_bytes = 128;

/// Rows of one task, at most: their inputs and the weights of a panel stay in a second-level cache.
inline constexpr int64_t kMostRows = 64;
/// Rows whose sums of four vectors stand in registers.
inline constexpr int64_t kTileOfRows = 6;
/// Rows that a tile may have. The predict library has few kernels: two to five rows are summed one by one.
#if defined(LAMINA_FEW_ROW_PANELS)
inline constexpr int64_t kTileSizes[] = {1, kTileOfRows};
#else
inline constexpr int64_t kTileSizes[] = {1, 2, 4, kTileOfRows};
#endif

/// Rows cut into tiles of equally many. The last one begins early enough to be whole: some rows are summed twice, to
/// the same bits.
struct RowTiles {
  int64_t rows;
  int64_t size;  // of kTileSizes, at most `rows`

  int64_t count() const { return (rows + size - 1) / size; }
  int64_t Begin(int64_t tile) const { return tile * size + size <= rows ? tile * size : rows - size; }
};

/// Groups of inputs to be read, ascending; null: all.
struct RowGroups {
  const int32_t* list;
  int64_t count;  // how many
};

/// z = W x of a row, or of several. Weights lie in one of three orders. Panels of neurons: panel, group of inputs,
/// neuron, then its weights of that group. Neuron by neuron: outputs × inputs. Lists: a vector of neurons after the
/// other, of each the inputs that one of its weights is not 0 for.
struct RowTask {
  const void* weights = nullptr;
  int64_t inputs = 0;
  int64_t outputs = 0;
  int64_t rows = 1;
  const void* x = nullptr;              // in panels of groups of several: zeros up to a whole group
  int64_t x_stride = 0;                 // numbers from a row to the next
  const RowGroups* groups = nullptr;    // of each tile of rows
  int64_t tile_rows = 1;                // rows of a tile
  const int32_t* listed = nullptr;      // inputs, of vector v of neurons from list_begin[v] to list_begin[v + 1]
  const int64_t* list_begin = nullptr;  // vectors + 1
  const float* scales = nullptr;        // of the neurons, a vector longer; null: 1
  void* sums = nullptr;                 // rows × outputs
  void* scratch = nullptr;              // RowKernel::scratch_bytes
};

/// Neurons [begin, end) of panel p of `panels`, in whole vectors but for the last.
struct RowPanel {
  int64_t begin;
  int64_t end;
};
inline int64_t RowPanels(int64_t outputs, int64_t lanes) {
  const int64_t vectors = (outputs + lanes - 1) / lanes;
  return (vectors + kRowVectors - 1) / kRowVectors;
}
inline RowPanel RowPanelAt(int64_t p, int64_t outputs, int64_t lanes) {
  const int64_t vectors = (outputs + lanes - 1) / lanes;
  const int64_t panels = RowPanels(outputs, lanes);
  const int64_t end = vectors * (p + 1) / panels * lanes;
  return {vectors * p / panels * lanes, end < outputs ? end : outputs};
}

}  // namespace lamina::cpu
