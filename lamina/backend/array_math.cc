// Loops that compilers make vectors of, by parts for each thread.
#include "lamina/backend/array_math.h"

#include <algorithm>
#include <array>

#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kBlock = 1024;  // elements that are scaled before they are added

template <class T>
void ScaleIn(T* to, const T* from, T scale, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] = scale * from[i];
    }
  });
}

// Scaled in memory first: fused with the sum it would be rounded once instead of twice, and the bits would depend on
// who adds.
template <class T>
void AddScaledIn(T* to, const T* more, T scale, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    std::array<T, kBlock> scaled;
    for (int64_t block = begin; block < end; block += kBlock) {
      const int64_t size = std::min(kBlock, end - block);
      for (int64_t i = 0; i < size; ++i) {
        scaled[static_cast<size_t>(i)] = scale * more[block + i];
      }
      for (int64_t i = 0; i < size; ++i) {
        to[block + i] += scaled[static_cast<size_t>(i)];
      }
    }
  });
}

template <class T>
void AddIn(T* to, const T* more, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] += more[i];
    }
  });
}

// By way of f32.
template <class To, class From>
void ConvertIn(To* to, const From* from, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    std::transform(from + begin, from + end, to + begin,
                   [](From value) { return static_cast<To>(static_cast<float>(value)); });
  });
}

}  // namespace

void HostArrayMath::Scale(float* to, const float* from, float scale, int64_t count) noexcept {
  ScaleIn(to, from, scale, count, threads_);
}
void HostArrayMath::Scale(double* to, const double* from, double scale, int64_t count) noexcept {
  ScaleIn(to, from, scale, count, threads_);
}
void HostArrayMath::AddScaled(float* to, const float* more, float scale, int64_t count) noexcept {
  AddScaledIn(to, more, scale, count, threads_);
}
void HostArrayMath::AddScaled(double* to, const double* more, double scale, int64_t count) noexcept {
  AddScaledIn(to, more, scale, count, threads_);
}
void HostArrayMath::Add(float* to, const float* more, int64_t count) noexcept { AddIn(to, more, count, threads_); }
void HostArrayMath::Add(double* to, const double* more, int64_t count) noexcept { AddIn(to, more, count, threads_); }

void HostArrayMath::ToBFloat16(BFloat16* to, const float* from, int64_t count) noexcept {
  ConvertIn(to, from, count, threads_);
}
void HostArrayMath::ToBFloat16(BFloat16* to, const double* from, int64_t count) noexcept {
  ConvertIn(to, from, count, threads_);
}
void HostArrayMath::FromBFloat16(float* to, const BFloat16* from, int64_t count) noexcept {
  ConvertIn(to, from, count, threads_);
}
void HostArrayMath::FromBFloat16(double* to, const BFloat16* from, int64_t count) noexcept {
  ConvertIn(to, from, count, threads_);
}

}  // namespace lamina
