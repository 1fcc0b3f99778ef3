// A ring of two chunks on the device: one is computed, the other one filled.
#include "lamina/train/data_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "lamina/base/error.h"

namespace lamina {
namespace {

constexpr int64_t kChunk_bytes = 64 << 20;
constexpr int64_t kIndex_bytes = sizeof(int64_t);

int64_t RowBytes(const Dataset& dataset) {
  const int64_t numbers = dataset.features.cols() + dataset.targets.cols() + (dataset.sample_weights.empty() ? 0 : 1);
  return numbers * DTypeSize_bytes(dataset.features.dtype());
}

}  // namespace

struct DataFeed::Stream {
  struct Part {
    ConstMatrixView host;            // all rows
    std::unique_ptr<Buffer> pinned;  // of a chunk; null: it is collected where it is used
    std::unique_ptr<Buffer> ring;    // of two, where the backend computes
    int64_t RowBytes() const { return host.cols * DTypeSize_bytes(host.dtype); }
  };

  Stream(const Dataset& dataset, const Backend& backend, int64_t chunk_samples);
  /// Runs on its own thread.
  void Collect(int64_t chunk);
  /// Of `count` samples from `begin` on: those in files are read ahead.
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
  parts[0].host = dataset.features.view();
  parts[1].host = dataset.targets.view();
  parts[2].host = weights.view();
  for (Part& part : parts) {
    if (!part.host.empty()) {
      part.pinned = copies == nullptr ? nullptr : copies->AllocatePinned(chunk * part.RowBytes());
      part.ring = backend.Allocate(2 * chunk * part.RowBytes());
    }
  }
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
  for (const Part& part : parts) {
    if (part.host.empty()) {
      continue;
    }
    const int64_t row_bytes = part.RowBytes();
    auto* place = static_cast<std::byte*>(part.ring->data()) + chunk % 2 * chunk_samples * row_bytes;
    auto* collected = part.pinned != nullptr ? static_cast<std::byte*>(part.pinned->data()) : place;
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(collected + i * row_bytes, part.host.Rows(RowOf(begin + i), 1).data, static_cast<size_t>(row_bytes));
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
  const auto fits = [&](const Matrix& matrix, int64_t cols) {
    return matrix.rows() == data.size() && matrix.cols() == cols && matrix.dtype() == network.dtype();
  };
  const bool weights_fit = data.sample_weights.empty() || std::ssize(data.sample_weights) == data.size();
  if (!fits(data.features, network.inputs()) || !fits(data.targets, network.outputs()) || !weights_fit) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("data of {} x {} inputs and {} x {} targets do not fit the network {} in {}",
                            data.features.rows(), data.features.cols(), data.targets.rows(), data.targets.cols(),
                            network.ShapeText(), DTypeName(network.dtype())));
  }
}

DataFeed::DataFeed(const Dataset& dataset, const Backend& backend, int64_t batch, int64_t window_rows)
    : dataset_(dataset), backend_(backend) {
  const bool windows = window_rows > 0 && window_rows < rows();
  if (backend.space() == Space::kHost && windows) {
    stream_ = std::make_unique<Stream>(dataset, backend, window_rows);
    return;
  }
  const int64_t row_bytes = RowBytes(dataset);
  const auto allowed_bytes = static_cast<int64_t>(kShareOfFreeMemory * static_cast<double>(backend.FreeMemory_bytes()));
  if (backend.space() == Space::kHost || rows() * (row_bytes + kIndex_bytes) <= allowed_bytes) {
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
