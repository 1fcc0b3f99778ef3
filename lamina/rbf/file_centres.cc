// File in, file out.
#include "lamina/rbf/file_centres.h"

#include <utility>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/shards.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/data/files/npy_writer.h"
#include "lamina/layer/same_files.h"
#include "lamina/tune/profile.h"

namespace lamina {

template <>
std::span<const Setting<FileCentresSettings>> SettingRows() {
  using S = FileCentresSettings;
  using Row = Setting<S>;
  static const std::vector<Row> rows = JoinGroups<S>(
      {{"Centers",
        {Row("x", &S::x, "Rows: a .npy matrix of f8 or f4",
             {.reads = [](const std::string& path) { return std::vector<std::string>{path}; }}),
         Row("out", &S::out, "Write the centers here: a .npy matrix, centers x columns", {.writes = true}),
         Row("method", &S::method,
             "k-means: squared Euclidean distances, centers are means; k-medians: Manhattan distances, centers are "
             "medians",
             {.choices = [] { return NamesIn(kClusterKinds); }}),
         Row("count", &S::count, "Centers", {.range = kAtLeastOne}),
         Row("start", &S::start,
             "Where the centers start: plusplus (rows far from one another, k-means++), or rows (any that differ)",
             {.choices = [] { return NamesIn(kClusterStarts); }}),
         Row("iterations", &S::iterations, "Most iterations; the search ends where no row changes its center",
             {.range = kAtLeastOne}),
         Row("batch", &S::batch, "Rows drawn for every iteration; 0: all rows", {.range = kNotNegative}),
         Row("shards", &S::shards,
             "Parts of the rows whose sums are added in a fixed order. The centers are then the same, to the bit, for "
             "any number of MPI ranks up to this; 0: 8 with ranks, else the rows in one piece",
             {.range = kNotNegative}),
         Row("seed", &S::seed, "Seed of the start and of batches")}},
       {"Machine",
        {Row("backend", &S::backend, BackendNamesText() + "; not blas, which gives no fixed order of sums",
             {.choices = &BackendNames}),
         Row("threads", &S::threads, "Threads; 0: all cores", {.range = kThreadCounts})}}});
  return rows;
}

FileCentres::FileCentres(const FileCentresSettings& settings, Communicator* ranks) : settings_(settings) {
  CheckSettingRows(settings_);
  for (const auto& [name, path] : {std::pair{"x", &settings_.x}, {"out", &settings_.out}}) {
    if (path->empty()) {
      RefuseSetting(name, std::string("no --") + name + " FILE");
    }
  }
  CheckFiles(FilesOf(settings_));
  options_.kind = ParseName(settings_.method, kClusterKinds, "--method: unknown choice");
  options_.start = ParseName(settings_.start, kClusterStarts, "--start: unknown choice");
  options_.count = settings_.count;
  options_.iterations = settings_.iterations;
  options_.batch = settings_.batch;
  options_.seed = settings_.seed;
  options_.shards = ranks != nullptr && settings_.shards == 0 ? kShardsOfRanks : settings_.shards;
  options_.ranks = ranks;
  const auto asked = static_cast<int>(settings_.threads);
  const int threads = ranks == nullptr || asked > 0 ? asked : CoresOfRank(*ranks);  // the ranks of a host share them
  backend_ = MakeTunedBackend(settings_.backend, {.threads = threads}, &tuning_warning_);
  x_ = std::make_unique<NpyMatrix>(settings_.x);
  if (ranks != nullptr) {
    RequireSameFiles(*ranks, *backend_, settings_, {x_.get()});
  }
}

FileCentres::~FileCentres() = default;

int64_t FileCentres::rows() const { return x_->rows(); }
int64_t FileCentres::columns() const { return x_->cols(); }
DType FileCentres::dtype() const { return x_->dtype(); }

Clusters FileCentres::Run(std::function<bool()> stop_requested,
                          std::function<void(int64_t iteration, double mean_distance)> progress) {
  options_.stop_requested = std::move(stop_requested);
  options_.progress = std::move(progress);
  Clusters clusters = FindClusters(*x_, options_, *backend_);
  if (clusters.complete && (options_.ranks == nullptr || options_.ranks->is_first())) {
    WriteNpy(settings_.out, clusters.centres.view());
  }
  return clusters;
}

}  // namespace lamina
