// Operands in any memory for a backend. A device gets copies of the host's and gives results back; it computes in place
// what is in its own memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"

namespace lamina {

/// Copies of one call after the other in the same device memory, which grows where a call needs more. What is in the
/// backend's own memory (Space of the view) is handed through; other libraries' work on it is waited for. `backend`
/// must outlive it.
class Staging {
 public:
  explicit Staging(const Backend& backend) : backend_(&backend) {}

  bool is_needed() const { return backend_->space() != Space::kHost; }
  /// Throws Error(kInvalidArgument) for a device's memory where the backend computes in the host's, as all below do.
  void RequireReach(Space space) const;
  /// Starts a call: what the last one had is overwritten.
  void Begin() { next_ = 0, in_place_ = false; }
  /// Where the backend finds an input.
  ConstMatrixView In(const ConstMatrixView& host);
  const void* In(const void* host, int64_t size_bytes);
  /// Where it puts an output, all of it.
  MatrixView Out(const MatrixView& host);
  /// Where it finds and changes an array.
  void* InOut(void* host, int64_t size_bytes);
  /// Waits and copies back the outputs that are the host's.
  void Finish();

 private:
  struct Slot {
    std::unique_ptr<Buffer> buffer;
    MatrixView out;      // of the host, empty for inputs
    int64_t stride = 0;  // of its copy
  };
  bool IsInPlace(Space space);
  Slot& Take(int64_t size_bytes);
  std::byte* Rows(int64_t size_bytes);

  const Backend* backend_;
  std::vector<Slot> slots_;
  size_t next_ = 0;
  bool in_place_ = false;  // an operand of this call is in the device's memory
  AlignedBuffer rows_;
};

/// A prepared layer with operands in host memory or the backend's. On a device, calls may throw Error(kResource |
/// kUnsupported).
class StagedLayer {
 public:
  /// `backend` must outlive it where it computes on a device.
  StagedLayer(const Backend& backend, const LayerPlanRequest& request);

  void Forward(const ForwardArgs& args);
  void InputGradient(const InputGradientArgs& args);
  void WeightGradient(const WeightGradientArgs& args);
  std::string Describe() const { return prepared_->Describe(); }

 private:
  std::unique_ptr<PreparedLayer> prepared_;
  Staging staging_;
  bool staged_;
  LayerSpec layer_;
  DType dtype_;
};

}  // namespace lamina
