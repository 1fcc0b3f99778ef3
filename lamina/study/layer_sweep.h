// The B x M tables of the 2017 paper (Tables I and II): one layer in blocks of several sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/measure/layer_timer.h"
#include "lamina/report/report_writer.h"

namespace lamina {

/// One cell of the paper's B × M tables: a layer of M neurons over M samples in blocks of B samples.
struct SweepCell {
  int64_t m = 0;
  int64_t block = 0;
  double rbf_seconds = 0;
  double mul_seconds = 0;
  double speedup = 0;      // of rbf over backend serial; 0 where that has no time
  bool estimated = false;  // the times
  bool speedup_estimated = false;
  std::string reason;  // why there are no times: the paper's stars
};

struct SweepRequest {
  std::vector<int64_t> sizes;   // M
  std::vector<int64_t> blocks;  // B
  int64_t inputs = 784;         // n
  DType dtype = DType::kF64;
  std::string backend = "cpu";
};

/// Tables I and II of the 2017 paper, size by size. A block is the samples of one call of the backend.
std::vector<SweepCell> SweepLayers(const SweepRequest& request, LayerTimer& timer);

/// The cells as the paper prints them, rows M and columns B: the "rbf, mul" speed-up (Table I) or seconds (Table II),
/// or the reason. The last column is the paper's best of the row. Without id, title and note.
ReportTable SweepTable(std::span<const SweepCell> cells, bool speedup);
/// One row a cell.
ReportTable SweepList(std::span<const SweepCell> cells);

}  // namespace lamina
