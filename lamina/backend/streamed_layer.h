// A layer over host operands, piece by piece: on a device, the copies of one piece run beside the work on another.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/backend/copy_streams.h"

namespace lamina {

/// Forward passes over rows of large host matrices. In host memory every call computes at once. A device has two of
/// everything: weights, samples, outputs, and pinned host memory for them. While it computes a piece, the next one is
/// copied to it and the last one from it.
class StreamedLayer {
 public:
  /// No piece may be larger than `request` in samples or outputs. `backend` must outlive it where it computes on a
  /// device. Throws Error.
  StreamedLayer(const Backend& backend, const LayerPlanRequest& request);
  ~StreamedLayer();

  /// Asks for outputs args.a (and no others) of args.x, weights and bias. `same_weights`: those of the last call,
  /// unchanged. `done` is called as soon as the outputs are in place, in this call, a later one or Finish(). Until then
  /// the host's memory must stay. The calls of `done` are in the order of the pieces.
  void Forward(const ForwardArgs& args, bool same_weights, std::function<void()> done);
  /// Waits for all that was asked for.
  void Finish();
  /// After an error: forgets what was asked for, once nothing of it is under way.
  void Abandon() noexcept;

  /// The most samples that are worth a piece, so that what is pinned stays small.
  int64_t LargestPiece() const;
  std::string Describe() const { return prepared_->Describe(); }

 private:
  struct Piece;
  struct DeviceState;
  void Complete(Piece& piece);
  ConstMatrixView Upload(const ConstMatrixView& host, std::unique_ptr<Buffer>& device);

  const Backend& backend_;
  std::unique_ptr<PreparedLayer> prepared_;
  std::unique_ptr<DeviceState> device_;  // null: host memory
};

}  // namespace lamina
