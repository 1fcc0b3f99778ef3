// Files in, files out.
#include "lamina/layer/file_neighbours.h"

#include <optional>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/base/timing.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/layer/layer.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

std::vector<std::string> PathItself(const std::string& path) { return {path}; }

}  // namespace

template <>
std::span<const Setting<FileNeighboursSettings>> SettingRows() {
  using S = FileNeighboursSettings;
  using Row = Setting<S>;
  static const std::vector<Row> rows = JoinGroups<S>(
      {{"Neighbors",
        {Row("x", &S::x, "Rows to find neighbors for: a .npy matrix of f8, f4, f2, i8, i4, i2, i1 or u1",
             {.reads = &PathItself}),
         Row("y", &S::y, "Rows to find them among: a .npy matrix of as many columns and the same type",
             {.reads = &PathItself}),
         Row("out", &S::out, "Write the neighbors here: a .npy matrix of i8, each number a row of --y, counted from 0",
             {.writes = true}),
         Row("distances", &S::distances, "Write their distances here: a .npy matrix", {.writes = true}),
         Row("k", &S::k, "Neighbors of each row, nearest first",
             {.range = NumberRange{.low = 1, .high = NeighbourOptions::kMost}}),
         Row("metric", &S::metric, "l2, l1, or dot (the nearest have the largest product)",
             {.choices = [] { return NamesIn(kMetrics); }})}},
       {"Machine",
        {Row("backend", &S::backend, BackendNamesText() + "; not blas, which gives no fixed order of sums",
             {.choices = &BackendNames}),
         Row("threads", &S::threads, "Threads; 0: all cores", {.range = kThreadCounts})}}});
  return rows;
}

FileNeighbours::FileNeighbours(const FileNeighboursSettings& settings) : settings_(settings) {
  CheckSettingRows(settings_);
  for (const auto& [name, path] : {std::pair{"x", &settings_.x}, {"y", &settings_.y}, {"out", &settings_.out}}) {
    if (path->empty()) {
      RefuseSetting(name, std::string("no --") + name + " FILE");
    }
  }
  CheckFiles(FilesOf(settings_));
  options_.k = settings_.k;
  options_.metric = ParseName(settings_.metric, kMetrics, "--metric: unknown choice");
  backend_ = MakeTunedBackend(settings_.backend, {.threads = static_cast<int>(settings_.threads)}, &tuning_warning_);
  x_ = std::make_unique<NpyMatrix>(settings_.x);
  y_ = std::make_unique<NpyMatrix>(settings_.y);
  RequireNeighbours(*x_, *y_, options_);
}

FileNeighbours::~FileNeighbours() = default;

int64_t FileNeighbours::x_rows() const { return x_->rows(); }
int64_t FileNeighbours::y_rows() const { return y_->rows(); }
int64_t FileNeighbours::columns() const { return x_->cols(); }
DType FileNeighbours::dtype() const { return x_->dtype(); }

FileNeighboursResult FileNeighbours::Run(const SliceCallbacks& callbacks) {
  const Stopwatch watch;
  NpyOutput indices(settings_.out, x_->rows(), options_.k, DType::kI64);
  std::optional<NpyOutput> distances;
  if (!settings_.distances.empty()) {
    distances.emplace(settings_.distances, x_->rows(), options_.k, DistanceType(x_->dtype(), options_.metric));
  }
  const auto finished = [&](int64_t begin, int64_t rows) {
    indices.Finish(begin, rows);
    if (distances) {
      distances->Finish(begin, rows);
    }
  };
  FileNeighboursResult result;
  if (!NearestRows(*x_, *y_, options_, *backend_,
                   {indices.view(), distances ? distances->view() : MatrixView(), finished}, callbacks)) {
    return result;
  }
  indices.Commit();
  if (distances) {
    distances->Commit();
  }
  result.complete = true;
  result.seconds = watch.Elapsed_seconds();
  result.synapses_per_second = static_cast<double>(x_->rows()) * static_cast<double>(y_->rows()) *
                               static_cast<double>(x_->cols()) / result.seconds;
  return result;
}

}  // namespace lamina
