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
    std::unique_ptr<Buffer> pinned;  // of a chunk
    std::unique_ptr<Buffer> device;  // of two
    int64_t RowBytes() const { return host.cols * DTypeSize_bytes(host.dtype); }
    ConstMatrixView view(int64_t rows) const {
      return {device->data(), rows, host.cols, host.cols, host.dtype, Space::kDevice};
    }
  };

  Stream(const Dataset& dataset, const Backend& backend, int64_t chunk_samples);
  /// Runs on its own thread.
  void Collect(int64_t chunk);
  void Start(int64_t chunk) {
    next = chunk;
    loading = std::async(std::launch::async, [this, chunk] { Collect(chunk); });
  }

  int64_t rows;
  int64_t chunk_samples;
  Matrix weights;              // rows × 1
  std::vector<int64_t> order;  // empty: as they are
  std::array<Part, 3> parts;   // features, targets, weights
  std::unique_ptr<CopyStreams> copies;
  int64_t ready = -1;         // the chunk that is there
  int64_t next = -1;          // the chunk that is being loaded
  std::future<void> loading;  // last: it is waited for before what it uses goes
};

DataFeed::Stream::Stream(const Dataset& dataset, const Backend& backend, int64_t chunk)
    : rows(dataset.size()), chunk_samples(chunk), weights(WeightColumnOf(dataset)), copies(backend.MakeCopyStreams()) {
  parts[0].host = dataset.features.view();
  parts[1].host = dataset.targets.view();
  parts[2].host = weights.view();
  for (Part& part : parts) {
    if (!part.host.empty()) {
      part.pinned = copies->AllocatePinned(chunk * part.RowBytes());
      part.device = backend.Allocate(2 * chunk * part.RowBytes());
    }
  }
}

void DataFeed::Stream::Collect(int64_t chunk) {
  const int64_t begin = chunk * chunk_samples;
  const int64_t count = std::min(chunk_samples, rows - begin);
  int64_t last_upload = 0;
  for (const Part& part : parts) {
    if (part.host.empty()) {
      continue;
    }
    const int64_t row_bytes = part.RowBytes();
    auto* pinned = static_cast<std::byte*>(part.pinned->data());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = order.empty() ? begin + i : order[static_cast<size_t>(begin + i)];
      std::memcpy(pinned + i * row_bytes, part.host.Rows(row, 1).data, static_cast<size_t>(row_bytes));
    }
    auto* device = static_cast<std::byte*>(part.device->data());
    last_upload = copies->StartUpload(device + chunk % 2 * chunk_samples * row_bytes, pinned, count * row_bytes);
  }
  copies->WaitForUpload(last_upload);
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

DataFeed::DataFeed(const Dataset& dataset, const Backend& backend, int64_t batch)
    : dataset_(dataset), backend_(backend) {
  const int64_t row_bytes = RowBytes(dataset);
  const auto allowed_bytes = static_cast<int64_t>(kShareOfFreeMemory * static_cast<double>(backend.FreeMemory_bytes()));
  if (backend.space() == Space::kHost || rows() * (row_bytes + kIndex_bytes) <= allowed_bytes) {
    resident_ = std::make_unique<ResidentDataset>(dataset, backend);
    return;
  }
  const int64_t fitting = std::min(kChunk_bytes, allowed_bytes / 2) / (row_bytes + kIndex_bytes) / batch * batch;
  const int64_t chunk = std::clamp(fitting, batch, (rows() + batch - 1) / batch * batch);
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
  work.x = stream.parts[0].view(ring_rows);
  work.targets = stream.parts[1].view(ring_rows);
  work.sample_weights = stream.parts[2].host.empty() ? nullptr : stream.parts[2].device->data();
  work.order = static_cast<const int64_t*>(order_->data());
  work.begin = begin % ring_rows;
  work.end = work.begin + std::min(end, (chunk + 1) * stream.chunk_samples) - begin;
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

}  // namespace lamina
