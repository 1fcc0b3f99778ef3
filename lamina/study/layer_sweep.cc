// Sweeps over sizes and blocks of layers.
#include "lamina/study/layer_sweep.h"

#include <fmt/format.h>

#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/study/paper_2017_values.h"

namespace lamina {
namespace {

SweepCell CellOf(const SweepRequest& request, int64_t m, int64_t block, double memory_bytes, LayerTimer& timer) {
  SweepCell cell;
  cell.m = m;
  cell.block = block;
  const double needed_bytes = LayerMemory_bytes(RbfProblem(m, m, request.inputs, request.dtype));
  if (needed_bytes > memory_bytes) {
    cell.reason = fmt::format("memory: {} by eq. (4), {} are free", BytesText(static_cast<int64_t>(needed_bytes)),
                              BytesText(static_cast<int64_t>(memory_bytes)));
    return cell;
  }
  if (block > m) {
    cell.reason = fmt::format("block larger than the {} samples", m);
    return cell;
  }
  const double blocks = static_cast<double>(m) / static_cast<double>(block);
  const TimedLayer& rbf = timer.Time(RbfProblem(block, m, request.inputs, request.dtype), request.backend);
  const TimedLayer& mul = timer.Time(MulProblem(block, m, request.inputs, request.dtype), request.backend);
  if (!rbf.done() || !mul.done()) {
    cell.reason = rbf.done() ? mul.reason : rbf.reason;
    return cell;
  }
  cell.rbf_seconds = blocks * rbf.seconds;
  cell.mul_seconds = blocks * mul.seconds;
  cell.estimated = rbf.estimated() || mul.estimated();
  const TimedLayer& serial = timer.Time(RbfProblem(m, m, request.inputs, request.dtype), "serial");
  cell.speedup_estimated = cell.estimated || serial.estimated();
  cell.speedup = serial.done() ? serial.seconds / cell.rbf_seconds : 0;
  return cell;
}

}  // namespace

std::vector<SweepCell> SweepLayers(const SweepRequest& request, LayerTimer& timer) {
  std::vector<SweepCell> cells;
  const auto memory_bytes = static_cast<double>(QueryHardware().UsableMemory_bytes());
  for (const int64_t m : request.sizes) {
    for (const int64_t block : request.blocks) {
      cells.push_back(CellOf(request, m, block, memory_bytes > 0 ? memory_bytes : 1e300, timer));
    }
  }
  return cells;
}

namespace {

ReportCell CellText(const SweepCell& cell, bool speedup) {
  if (!cell.reason.empty()) {
    return cell.reason;
  }
  if (speedup) {
    return {cell.speedup, fmt::format("{}{:.3g}", cell.speedup_estimated ? "≈ " : "", cell.speedup)};
  }
  return fmt::format("{}{:.3g}, {:.3g}", cell.estimated ? "≈ " : "", cell.rbf_seconds, cell.mul_seconds);
}

ReportCell Printed(int64_t m, bool speedup) {
  for (const PaperSweepRow& row : kPaperSweep) {
    if (row.m == m) {
      return speedup ? row.best_speedup : row.best_seconds;
    }
  }
  return {};
}

}  // namespace

ReportTable SweepTable(std::span<const SweepCell> cells, bool speedup) {
  ReportTable table;
  table.columns.push_back({"m", "M \\ B"});
  for (const SweepCell& cell : cells) {
    if (table.rows.empty() || table.rows.back()[0].number != static_cast<double>(cell.m)) {
      table.rows.push_back({ReportCell::Whole(cell.m)});
    }
    if (table.rows.size() == 1) {
      table.columns.push_back({fmt::format("b_{}", cell.block), fmt::format("{}", cell.block)});
    }
    table.rows.back().push_back(CellText(cell, speedup));
  }
  table.columns.push_back({"paper", "paper, best B"});
  for (auto& row : table.rows) {
    row.push_back(Printed(static_cast<int64_t>(*row[0].number), speedup));
  }
  return table;
}

ReportTable SweepList(std::span<const SweepCell> cells) {
  ReportTable table{"sweep",
                    "Tables I and II cell by cell",
                    {{"m", "M"},
                     {"b", "B"},
                     {"rbf_seconds", ""},
                     {"mul_seconds", ""},
                     {"speedup", ""},
                     {"estimated", ""},
                     {"reason", ""}},
                    {},
                    "",
                    /*in_markdown=*/false};
  for (const SweepCell& cell : cells) {
    if (cell.reason.empty()) {
      table.rows.push_back({ReportCell::Whole(cell.m),
                            ReportCell::Whole(cell.block),
                            cell.rbf_seconds,
                            cell.mul_seconds,
                            cell.speedup,
                            cell.estimated ? "yes" : "no",
                            {}});
    } else {
      table.rows.push_back({ReportCell::Whole(cell.m), ReportCell::Whole(cell.block), {}, {}, {}, {}, cell.reason});
    }
  }
  return table;
}

}  // namespace lamina
