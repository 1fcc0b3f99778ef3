// Element types: the 16-bit floats against the compiler's own, and every pair of conversions.
#include "lamina/base/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "lamina/base/buffer.h"

namespace lamina {
namespace {

TEST(Half, EveryFloat16ComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    Float16 half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(value))));
    } else {
      EXPECT_EQ(Float16(value).bits, bits);
    }
  }
}

TEST(Half, EveryBFloat16ComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    BFloat16 half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(value))));
    } else {
      EXPECT_EQ(BFloat16(value).bits, bits);
    }
  }
}

#if defined(__aarch64__)
using CompilersHalf = __fp16;  // which g++ 12 has in C++ there
#elif defined(__FLT16_MAX__)
using CompilersHalf = _Float16;
#endif
#if defined(__aarch64__) || defined(__FLT16_MAX__)
TEST(Half, RoundsAsTheCompilerDoes) {
  for (uint32_t i = 0; i < 4'000'000; ++i) {
    const auto value = std::bit_cast<float>(i * 1073U);
    const auto expected = static_cast<CompilersHalf>(value);
    const Float16 got(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(got)));
    } else {
      ASSERT_EQ(got.bits, std::bit_cast<uint16_t>(expected)) << value;
    }
  }
}
#endif

TEST(Half, BFloat16RoundsToNearestEven) {
  EXPECT_EQ(static_cast<float>(BFloat16(1.0F + 1.0F / 256)), 1.0F);               // a tie goes to the even one
  EXPECT_EQ(static_cast<float>(BFloat16(1.0F + 3.0F / 256)), 1.0F + 4.0F / 256);  // here upwards
  EXPECT_EQ(static_cast<float>(BFloat16(std::numeric_limits<float>::max())), INFINITY);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7F800001U)))));
}

TEST(Convert, EveryPairOfTypes) {
  for (int from = 0; from < 9; ++from) {
    for (int to = 0; to < 9; ++to) {
      Matrix source(3, 5, DType::kF64);
      for (int64_t i = 0; i < 15; ++i) {
        source.Row<double>(0)[i] = static_cast<double>(i * 9);
      }
      Matrix a(3, 5, static_cast<DType>(from));
      Matrix b(3, 5, static_cast<DType>(to));
      Matrix back(3, 5, DType::kF64);
      ConvertMatrix(source.view(), a.view());
      ConvertMatrix(a.view(), b.view());
      ConvertMatrix(b.view(), back.view());
      for (int64_t i = 0; i < 15; ++i) {
        EXPECT_EQ(back.Row<double>(0)[i], source.Row<double>(0)[i]) << from << " to " << to;
      }
    }
  }
}

TEST(Convert, LargestMagnitude) {
  Matrix matrix(2, 3, DType::kI8);
  matrix.Row<int8_t>(1)[1] = -128;
  EXPECT_EQ(LargestMagnitude(matrix.view()), 128);
  Matrix floats(2, 3, DType::kF32);
  floats.Row<float>(0)[1] = -7;
  EXPECT_EQ(LargestMagnitude(floats.view()), 7);
  floats.Row<float>(0)[0] = NAN;
  EXPECT_TRUE(std::isnan(LargestMagnitude(floats.view())));
  EXPECT_EQ(LargestMagnitude(Matrix(0, 3, DType::kU8).view()), 0);
}

}  // namespace
}  // namespace lamina
