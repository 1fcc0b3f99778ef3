// The two 16-bit floating-point storage types and their conversions, rounding to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace lamina {

/// bfloat16: the upper half of a float.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit constexpr BFloat16(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    bits = value != value ? static_cast<uint16_t>(wide >> 16 | 0x40U)  // a NaN stays one
                          : static_cast<uint16_t>((wide + 0x7FFFU + (wide >> 16 & 1U)) >> 16);
  }
  friend bool operator==(const BFloat16&, const BFloat16&) = default;  // of the bits
  explicit constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// IEEE 754 binary16.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  explicit constexpr Float16(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(wide >> 16 & 0x8000U);
    const uint32_t magnitude = wide & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) {
      bits = static_cast<uint16_t>(sign | 0x7E00U);  // NaN
    } else if (magnitude >= 0x477FF000U) {
      bits = static_cast<uint16_t>(sign | 0x7C00U);  // 65520 and more round to infinity
    } else if (magnitude >= 0x38800000U) {           // normal: rebias the exponent by 127 - 15, round 13 bits away
      bits = static_cast<uint16_t>(sign | ((magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13));
    } else {  // subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low mantissa bits
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000U));
    }
  }
  friend bool operator==(const Float16&, const Float16&) = default;  // of the bits
  explicit constexpr operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
    const uint32_t rest = bits & 0x7FFFU;
    uint32_t magnitude = 0;
    if (rest >= 0x7C00U) {
      magnitude = 0x7F800000U | (rest & 0x3FFU) << 13;
    } else if (rest >= 0x0400U) {
      magnitude = (rest << 13) + 0x38000000U;
    } else {
      magnitude = std::bit_cast<uint32_t>(static_cast<float>(rest) * 0x1p-24F);
    }
    return std::bit_cast<float>(sign | magnitude);
  }
};

}  // namespace lamina
