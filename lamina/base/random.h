// Seeded random numbers, the same on every platform: xoshiro256++ (Blackman, Vigna 2019) with our own distributions,
// since those of the standard library differ between implementations.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace lamina {

class Random {
 public:
  /// Independent generators for each (seed, stream).
  explicit Random(uint64_t seed, uint64_t stream = 0) {
    uint64_t x = seed + 0x9E3779B97F4A7C15ULL * (stream + 1);
    for (uint64_t& word : state_) {
      x += 0x9E3779B97F4A7C15ULL;  // SplitMix64
      uint64_t z = x;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
      word = z ^ (z >> 31);
    }
  }

  /// A generator in the middle of its sequence. One whose state is all 0 gives zeros only.
  explicit constexpr Random(const std::array<uint64_t, 4>& state) : state_(state) {}
  constexpr const std::array<uint64_t, 4>& state() const { return state_; }

  constexpr uint64_t Next() {
    const uint64_t result = Rotate(state_[0] + state_[3], 23) + state_[0];
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }

  /// Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

  /// Standard normal (Box-Muller).
  double Normal() {
    const double u = 1.0 - Uniform();
    const double v = Uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

  /// Uniform in [0, n), n > 0 (Lemire's multiply-shift with rejection).
  uint64_t Below(uint64_t n) {
    auto product = static_cast<unsigned __int128>(Next()) * n;
    auto low = static_cast<uint64_t>(product);
    if (low < n) {
      const uint64_t threshold = -n % n;
      while (low < threshold) {
        product = static_cast<unsigned __int128>(Next()) * n;
        low = static_cast<uint64_t>(product);
      }
    }
    return static_cast<uint64_t>(product >> 64);
  }

  /// Fisher-Yates.
  template <class T>
  void Shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[Below(i)]);
    }
  }

 private:
  static constexpr uint64_t Rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::array<uint64_t, 4> state_;
};

}  // namespace lamina
