// Arithmetic on whole arrays in a backend's memory: what sums of gradients over shards and ranks are made of.
#pragma once

#include <cstdint>

#include "lamina/base/half.h"

namespace lamina {

/// Calls come one after the other and may return before they are done (Backend::Synchronize()). Every product and every
/// sum is rounded by itself, so that the bits are those of any other memory.
class ArrayMath {
 public:
  virtual ~ArrayMath() = default;

  /// to = scale × from; may be the same array.
  virtual void Scale(float* to, const float* from, float scale, int64_t count) noexcept = 0;
  virtual void Scale(double* to, const double* from, double scale, int64_t count) noexcept = 0;
  /// to += scale × more.
  virtual void AddScaled(float* to, const float* more, float scale, int64_t count) noexcept = 0;
  virtual void AddScaled(double* to, const double* more, double scale, int64_t count) noexcept = 0;
  /// to += more.
  virtual void Add(float* to, const float* more, int64_t count) noexcept = 0;
  virtual void Add(double* to, const double* more, int64_t count) noexcept = 0;
  virtual void ToBFloat16(BFloat16* to, const float* from, int64_t count) noexcept = 0;
  virtual void ToBFloat16(BFloat16* to, const double* from, int64_t count) noexcept = 0;
  virtual void FromBFloat16(float* to, const BFloat16* from, int64_t count) noexcept = 0;
  virtual void FromBFloat16(double* to, const BFloat16* from, int64_t count) noexcept = 0;
};

/// Works on host memory with `threads` threads.
class HostArrayMath final : public ArrayMath {
 public:
  explicit HostArrayMath(int threads) : threads_(threads) {}

  void Scale(float* to, const float* from, float scale, int64_t count) noexcept override;
  void Scale(double* to, const double* from, double scale, int64_t count) noexcept override;
  void AddScaled(float* to, const float* more, float scale, int64_t count) noexcept override;
  void AddScaled(double* to, const double* more, double scale, int64_t count) noexcept override;
  void Add(float* to, const float* more, int64_t count) noexcept override;
  void Add(double* to, const double* more, int64_t count) noexcept override;
  void ToBFloat16(BFloat16* to, const float* from, int64_t count) noexcept override;
  void ToBFloat16(BFloat16* to, const double* from, int64_t count) noexcept override;
  void FromBFloat16(float* to, const BFloat16* from, int64_t count) noexcept override;
  void FromBFloat16(double* to, const BFloat16* from, int64_t count) noexcept override;

 private:
  int threads_;
};

}  // namespace lamina
