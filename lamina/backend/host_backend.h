// What the CPU backends share: host memory, gathering rows, the loss, and what stages need (host_elementwise.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/backend/host_elementwise.h"
#include "lamina/base/hardware.h"

namespace lamina {

/// Base of serial, threads, blas and cpu. Uses `threads` threads in its own loops.
class HostBackend : public Backend {
 public:
  explicit HostBackend(int threads, RegionRunner run = RunRegion) : parts_{threads, run}, elementwise_(parts_) {}

  int threads() const override { return parts_.threads; }
  Space space() const override { return Space::kHost; }
  Verdict Supports(const Problem& problem) const override;
  std::unique_ptr<Buffer> Allocate(int64_t size_bytes) const override;
  void Upload(void* to, const void* host, int64_t size_bytes) const override;
  void Download(void* host, const void* from, int64_t size_bytes) const override;
  void GatherRows(ConstMatrixView from, const int64_t* rows, int64_t count, MatrixView to) const noexcept override;
  void ComputeLoss(const LossArgs& args) const noexcept override;
  void ClipGradient(const ClipArgs& args) const noexcept override;
  void Update(const UpdateArgs& args) const noexcept override;
  const Elementwise& elementwise() const override { return elementwise_; }

 protected:
  /// update(begin, end) for pieces of the parameters, on all threads where that is worth it; none goes below
  /// args.smallest.
  template <class T, class Fn>
  void UpdateInPieces(const UpdateArgs& args, const Fn& update) const noexcept {
    constexpr int64_t kElements = 8192;  // of a piece
    T* const values = static_cast<T*>(args.arrays.value);
    const T smallest = static_cast<T>(args.smallest);
    parts_.ForParts((args.count + kElements - 1) / kElements, args.count, [&](int64_t first, int64_t last) {
      for (int64_t begin = first * kElements; begin < std::min(args.count, last * kElements); begin += kElements) {
        const int64_t end = std::min(args.count, begin + kElements);
        update(begin, end);
        for (int64_t i = begin; std::isfinite(args.smallest) && i < end; ++i) {
          values[i] = values[i] < smallest ? smallest : values[i];  // a NaN stays
        }
      }
    });
  }

  const HostParts& parts() const { return parts_; }

 private:
  HostParts parts_;
  HostElementwise elementwise_;
};

/// Zeroed host memory; HostBackend::Allocate.
std::unique_ptr<Buffer> AllocateOnHost(int64_t size_bytes);

/// The loss of host matrices; HostBackend::ComputeLoss.
void ComputeLossOnHost(const LossArgs& args) noexcept;

/// What samples [begin, end) of the batch add to its loss, and their deltas; args.sums is left alone. Any thread may
/// take any samples.
LossSums ComputeLossOfSamples(const LossArgs& args, int64_t begin, int64_t end) noexcept;

/// `threads` if positive, else UsableCores().
int ResolveThreads(int threads);

}  // namespace lamina
