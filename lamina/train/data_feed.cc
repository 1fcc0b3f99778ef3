// A ring of two chunks on the device: one is computed, the other one filled.
#include "lamina/train/data_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/data/encode/sparse_rows.h"

namespace lamina {
namespace {

constexpr int64_t kChunk_bytes = 64 << 20;
constexpr int64_t kIndex_bytes = sizeof(int64_t);

int64_t RowBytes(const Dataset& dataset) {
  const int64_t numbers = dataset.inputs() + dataset.targets.cols() + (dataset.sample_weights.empty() ? 0 : 1);
  return numbers * DTypeSize_bytes(dataset.dtype());
}

// How many rows in host memory pass through in a window; 0: they are there as a whole.
int64_t HostWindow(const Dataset& dataset, int64_t batch, int64_t window_rows) {
  if (dataset.sparse == nullptr) {
    return window_rows > 0 && window_rows < dataset.size() ? window_rows : 0;
  }
  const int64_t all = (dataset.size() + batch - 1) / batch * batch;
  const int64_t fitting = std::max(batch, kChunk_bytes / RowBytes(dataset) / batch * batch);
  return std::min({all, fitting, window_rows > 0 ? window_rows : all});
}

}  // namespace

struct DataFeed::Stream {
  struct Part {
    ConstMatrixView host;                // all rows; of sparse ones without memory
    const SparseRows* sparse = nullptr;  // null: they are dense
    std::unique_ptr<Buffer> pinned;      // of a chunk; null: it is collected where it is used
    std::unique_ptr<Buffer> ring;        // of two, where the backend computes
    std::vector<int64_t> shown;          // of sparse rows: which one a place holds; -1: none yet
    int64_t RowBytes() const { return host.cols * DTypeSize_bytes(host.dtype); }
    bool Exists() const { return host.cols > 0; }
    /// Row `row` to the place of that number at `to`.
    void Take(int64_t row, int64_t place, void* to);
  };

  Stream(const Dataset& dataset, const Backend& backend, int64_t chunk_samples);
  /// Runs on its own thread.
  void Collect(int64_t chunk);
  /// Announces `count` samples from `begin` on: those in files are read ahead.
  void Prefetch(int64_t begin, int64_t count) const;
  int64_t RowOf(int64_t sample) const { return order.empty() ? sample : order[static_cast<size_t>(sample)]; }
  ConstMatrixView View(const Part& part) const {
    return {part.ring->data(), 2 * chunk_samples, part.host.cols, part.host.cols, part.host.dtype, space};
  }
  void Start(int64_t chunk) {
    next = chunk;
    loading = std::async(std::launch::async, [this, chunk] { Collect(chunk); });
  }

  const Dataset& dataset;
  Space space;
  int64_t rows;
  int64_t chunk_samples;
  Matrix weights;                       // rows × 1
  std::vector<int64_t> order;           // empty: as they are
  std::array<Part, 3> parts;            // features, targets, weights
  std::unique_ptr<CopyStreams> copies;  // null: the backend computes in host memory
  int64_t ready = -1;                   // the chunk that is there
  int64_t next = -1;                    // the chunk that is being loaded
  std::future<void> loading;            // last: it is waited for before what it uses goes
};

DataFeed::Stream::Stream(const Dataset& data, const Backend& backend, int64_t chunk)
    : dataset(data),
      space(backend.space()),
      rows(data.size()),
      chunk_samples(chunk),
      weights(WeightColumnOf(data)),
      copies(space == Space::kHost ? nullptr : backend.MakeCopyStreams()) {
  parts[0].host = {dataset.features.data(), rows, dataset.inputs(), dataset.inputs(), dataset.dtype(), Space::kHost};
  parts[0].sparse = dataset.sparse.get();
  parts[1].host = dataset.targets.view();
  parts[2].host = weights.view();
  for (Part& part : parts) {
    if (part.Exists()) {
      part.pinned = copies == nullptr ? nullptr : copies->AllocatePinned(chunk * part.RowBytes());
      part.ring = backend.Allocate(2 * chunk * part.RowBytes());
      part.shown.assign(static_cast<size_t>(part.sparse == nullptr ? 0 : 2 * chunk), -1);
    }
  }
}

void DataFeed::Stream::Part::Take(int64_t row, int64_t place, void* to) {
  if (sparse == nullptr) {
    std::memcpy(to, host.Rows(row, 1).data, static_cast<size_t>(RowBytes()));
    return;
  }
  int64_t& before = shown[static_cast<size_t>(place)];
  before < 0 ? sparse->Fill(row, to) : sparse->Replace(before, row, to);
  before = row;
}

void DataFeed::Stream::Prefetch(int64_t begin, int64_t count) const {
  constexpr int64_t kGap = 64;  // rows that are read, too, where nobody asked for them
  std::vector<int64_t> asked;
  for (int64_t i = 0; i < count; ++i) {
    asked.push_back(RowOf(begin + i));
  }
  std::sort(asked.begin(), asked.end());
  for (size_t i = 0; i < asked.size();) {
    size_t end = i + 1;
    while (end < asked.size() && asked[end] - asked[end - 1] <= kGap) {
      ++end;
    }
    for (const std::shared_ptr<RowSource>& file : dataset.files) {
      file->Prefetch(asked[i], asked[end - 1] + 1 - asked[i]);
    }
    i = end;
  }
}

void DataFeed::Stream::Collect(int64_t chunk) {
  const int64_t begin = chunk * chunk_samples;
  const int64_t count = std::min(chunk_samples, rows - begin);
  int64_t last_upload = 0;
  if (!dataset.files.empty()) {
    Prefetch(begin, count);
  }
  for (Part& part : parts) {
    if (!part.Exists()) {
      continue;
    }
    const int64_t row_bytes = part.RowBytes();
    const int64_t first = chunk % 2 * chunk_samples;
    auto* place = static_cast<std::byte*>(part.ring->data()) + first * row_bytes;
    auto* collected = part.pinned != nullptr ? static_cast<std::byte*>(part.pinned->data()) : place;
    for (int64_t i = 0; i < count; ++i) {
      part.Take(RowOf(begin + i), part.pinned != nullptr ? i : first + i, collected + i * row_bytes);
    }
    if (copies != nullptr) {
      last_upload = copies->StartUpload(place, collected, count * row_bytes);
    }
  }
  dataset.Release();
  if (copies != nullptr) {
    copies->WaitForUpload(last_upload);
  }
}

void RequireFit(const Dataset& data, const Network& network) {
  const bool inputs_fit = data.inputs() == network.inputs() && data.dtype() == network.dtype();
  const bool targets_fit = data.targets.rows() == data.size() && data.targets.cols() == network.outputs() &&
                           data.targets.dtype() == network.dtype();
  const bool weights_fit = data.sample_weights.empty() || std::ssize(data.sample_weights) == data.size();
  if (!inputs_fit || !targets_fit || !weights_fit) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("data of {} x {} inputs and {} x {} targets do not fit the network {} in {}", data.size(),
                            data.inputs(), data.targets.rows(), data.targets.cols(), network.ShapeText(),
                            DTypeName(network.dtype())));
  }
}

DataFeed::DataFeed(const Dataset& dataset, const Backend& backend, int64_t batch, int64_t window_rows)
    : dataset_(dataset), backend_(backend) {
  if (const int64_t window = HostWindow(dataset, batch, window_rows); backend.space() == Space::kHost && window > 0) {
    stream_ = std::make_unique<Stream>(dataset, backend, window);
    return;
  }
  const bool windows = window_rows > 0 && window_rows < rows();
  const int64_t row_bytes = RowBytes(dataset);
  const auto allowed_bytes = static_cast<int64_t>(kShareOfFreeMemory * static_cast<double>(backend.FreeMemory_bytes()));
  const bool fits = dataset.sparse == nullptr && rows() * (row_bytes + kIndex_bytes) <= allowed_bytes;
  if (backend.space() == Space::kHost || fits) {
    resident_ = std::make_unique<ResidentDataset>(dataset, backend);
    if (windows) {
      dataset.Release();
    }
    return;
  }
  const int64_t fitting = std::min(kChunk_bytes, allowed_bytes / 2) / (row_bytes + kIndex_bytes) / batch * batch;
  const int64_t chunk = std::clamp(fitting, batch, windows ? window_rows : (rows() + batch - 1) / batch * batch);
  stream_ = std::make_unique<Stream>(dataset, backend, chunk);
  std::vector<int64_t> in_turn(static_cast<size_t>(2 * chunk));
  std::iota(in_turn.begin(), in_turn.end(), int64_t{0});
  order_ = backend.Allocate(2 * chunk * kIndex_bytes);
  backend.Upload(order_->data(), in_turn.data(), 2 * chunk * kIndex_bytes);
}

DataFeed::~DataFeed() = default;

int64_t DataFeed::chunk_samples() const { return stream_ == nullptr ? rows() : stream_->chunk_samples; }

void DataFeed::SetOrder(std::span<const int64_t> order) {
  if (stream_ != nullptr) {
    if (stream_->loading.valid()) {
      stream_->loading.wait();
    }
    stream_->order.assign(order.begin(), order.end());
    stream_->ready = -1;
    stream_->next = -1;
    return;
  }
  ordered_ = !order.empty();
  if (ordered_) {
    if (order_ == nullptr) {
      order_ = backend_.Allocate(rows() * kIndex_bytes);
    }
    backend_.Upload(order_->data(), order.data(), rows() * kIndex_bytes);
  }
}

void DataFeed::LoadChunk(int64_t chunk) {
  Stream& stream = *stream_;
  if (stream.ready == chunk) {
    return;
  }
  backend_.Synchronize();  // what reads the other chunk is done then
  if (stream.next != chunk) {
    stream.Start(chunk);
  }
  stream.next = -1;
  stream.loading.get();
  stream.ready = chunk;
  if ((chunk + 1) * stream.chunk_samples < stream.rows) {
    stream.Start(chunk + 1);
  }
}

void DataFeed::Load(int64_t begin, int64_t end, TrainingSteps& work) {
  if (stream_ == nullptr) {
    work.x = resident_->features();
    work.targets = resident_->targets();
    work.sample_weights = resident_->WeightsAt(0);
    work.order = ordered_ ? static_cast<const int64_t*>(order_->data()) : nullptr;
    work.begin = begin;
    work.end = end;
    return;
  }
  const Stream& stream = *stream_;
  const int64_t chunk = begin / stream.chunk_samples;
  LoadChunk(chunk);
  const int64_t ring_rows = 2 * stream.chunk_samples;
  work.x = stream.View(stream.parts[0]);
  work.targets = stream.View(stream.parts[1]);
  work.sample_weights = stream.parts[2].host.empty() ? nullptr : stream.parts[2].ring->data();
  work.order = order_ == nullptr ? nullptr : static_cast<const int64_t*>(order_->data());
  work.begin = begin % ring_rows;
  work.end = work.begin + std::min(end, (chunk + 1) * stream.chunk_samples) - begin;
}

}  // namespace lamina
