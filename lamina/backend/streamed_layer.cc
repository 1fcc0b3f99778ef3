// Two of everything, and one order: upload, work, download.
#include "lamina/backend/streamed_layer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lamina/backend/device_rows.h"

namespace lamina {
namespace {

constexpr int64_t kPinned_bytes = 16 << 20;  // of each upload
constexpr int64_t kPiece_bytes = 64 << 20;

// At least `size_bytes`; what was there is lost.
void Require(std::unique_ptr<Buffer>& buffer, int64_t size_bytes, const auto& allocate) {
  if (buffer == nullptr || buffer->size_bytes() < size_bytes) {
    buffer = nullptr;  // before the larger one is there
    buffer = allocate(size_bytes);
  }
}

}  // namespace

// Its memory is in use from Forward() to Complete().
struct StreamedLayer::Piece {
  bool asked = false;
  std::unique_ptr<Buffer> x;
  std::unique_ptr<Buffer> a;
  std::unique_ptr<Buffer> pinned_a;
  MatrixView out;      // of the host
  int64_t stride = 0;  // of its copies
  int64_t download = 0;
  std::function<void()> done;
};

struct StreamedLayer::DeviceState {
  struct Weights {
    std::unique_ptr<Buffer> weights;
    std::unique_ptr<Buffer> bias;
    ConstMatrixView view;
  };
  struct Pinned {
    std::unique_ptr<Buffer> buffer;
    int64_t upload = 0;
  };
  int64_t largest_piece = 0;
  std::array<Piece, 2> pieces;
  std::array<Weights, 2> weights;       // those in use are the first
  std::array<Pinned, 2> pinned;         // the one to fill next is the first
  std::unique_ptr<CopyStreams> copies;  // last: it waits for copies from and to the memory above
};

StreamedLayer::StreamedLayer(const Backend& backend, const LayerPlanRequest& request)
    : backend_(backend), prepared_(backend.Prepare(request)) {
  if (std::unique_ptr<CopyStreams> copies = backend.MakeCopyStreams()) {
    device_ = std::make_unique<DeviceState>();
    device_->copies = std::move(copies);
    const int64_t row_bytes = request.layer.inputs * DTypeSize_bytes(request.dtype) +
                              request.layer.outputs * DTypeSize_bytes(OutputType(request.dtype));
    device_->largest_piece = std::max<int64_t>(1, kPiece_bytes / std::max<int64_t>(1, row_bytes));
  }
}

StreamedLayer::~StreamedLayer() = default;

int64_t StreamedLayer::LargestPiece() const {
  return device_ == nullptr ? std::numeric_limits<int64_t>::max() : device_->largest_piece;
}

ConstMatrixView StreamedLayer::Upload(const ConstMatrixView& host, std::unique_ptr<Buffer>& device) {
  ConstMatrixView copy = host;
  copy.stride = StrideOfCopy(host);
  copy.space = backend_.space();
  Require(device, SpanBytes(host, copy.stride), [&](int64_t size_bytes) { return backend_.Allocate(size_bytes); });
  copy.data = device->data();
  const int64_t row_bytes = std::max<int64_t>(1, copy.stride * DTypeSize_bytes(host.dtype));
  const int64_t rows_together = std::max<int64_t>(1, kPinned_bytes / row_bytes);
  for (int64_t begin = 0; begin < host.rows; begin += rows_together) {
    const ConstMatrixView rows = host.Rows(begin, std::min(rows_together, host.rows - begin));
    DeviceState::Pinned& pinned = device_->pinned.front();
    device_->copies->WaitForUpload(pinned.upload);
    const int64_t span_bytes = SpanBytes(rows, copy.stride);
    Require(pinned.buffer, span_bytes, [&](int64_t size_bytes) { return device_->copies->AllocatePinned(size_bytes); });
    CopyRows(static_cast<std::byte*>(pinned.buffer->data()), copy.stride, static_cast<const std::byte*>(rows.data),
             rows.stride, rows);
    pinned.upload = device_->copies->StartUpload(static_cast<std::byte*>(device->data()) + begin * row_bytes,
                                                 pinned.buffer->data(), span_bytes);
    std::swap(device_->pinned[0], device_->pinned[1]);
  }
  return copy;
}

void StreamedLayer::Forward(const ForwardArgs& args, bool same_weights, std::function<void()> done) {
  if (device_ == nullptr) {
    prepared_->Forward(args);
    done();
    return;
  }
  Piece& piece = device_->pieces.front();  // the one before the last
  Complete(piece);
  // Only the last piece is under way now: whatever it does not use can be written.
  if (!same_weights) {
    std::swap(device_->weights[0], device_->weights[1]);
    DeviceState::Weights& next = device_->weights.front();
    next.view = Upload(args.weights, next.weights);
    if (args.bias != nullptr) {
      const DType type = args.a.dtype;
      Upload({args.bias, 1, args.weights.rows, args.weights.rows, type, Space::kHost}, next.bias);
    }
  }
  const DeviceState::Weights& weights = device_->weights.front();
  piece.out = args.a;
  piece.stride = StrideOfCopy(args.a);
  const int64_t out_bytes = SpanBytes(args.a, piece.stride);
  Require(piece.a, out_bytes, [&](int64_t size_bytes) { return backend_.Allocate(size_bytes); });
  Require(piece.pinned_a, out_bytes, [&](int64_t size_bytes) { return device_->copies->AllocatePinned(size_bytes); });
  ForwardArgs device;
  device.x = Upload(args.x, piece.x);
  device.weights = weights.view;
  device.bias = args.bias == nullptr ? nullptr : weights.bias->data();
  device.a = args.a;
  device.a.data = piece.a->data();
  device.a.stride = piece.stride;
  device.a.space = backend_.space();
  device_->copies->WorkAfterUploads();
  prepared_->Forward(device);
  device_->copies->DownloadsAfterWork();
  piece.download = device_->copies->StartDownload(piece.pinned_a->data(), piece.a->data(), out_bytes);
  piece.done = std::move(done);
  piece.asked = true;
  std::swap(device_->pieces[0], device_->pieces[1]);
}

void StreamedLayer::Complete(Piece& piece) {
  if (!piece.asked) {
    return;
  }
  device_->copies->WaitForDownload(piece.download);
  CopyRows(static_cast<std::byte*>(piece.out.data), piece.out.stride,
           static_cast<const std::byte*>(piece.pinned_a->data()), piece.stride, piece.out);
  piece.asked = false;
  piece.done();
}

void StreamedLayer::Abandon() noexcept {
  if (device_ == nullptr) {
    return;
  }
  for (Piece& piece : device_->pieces) {
    try {
      backend_.Synchronize();
      device_->copies->WaitForDownload(piece.download);
    } catch (const Error&) {  // the one that is on its way is the first
    }
    piece.asked = false;
    piece.done = nullptr;
  }
}

void StreamedLayer::Finish() {
  if (device_ == nullptr) {
    return;
  }
  for (Piece& piece : device_->pieces) {
    Complete(piece);
  }
  backend_.Synchronize();  // throws what failed on the way
}

}  // namespace lamina
