// The emulated instructions against plain loops, so that kernels may be judged by them.
#include "tests/amx/amx_emulator.h"

#if defined(__x86_64__) && defined(__linux__)

#include <gtest/gtest.h>
#include <csignal>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "lamina/base/half.h"

namespace lamina::amx_emulated {
namespace {

struct alignas(64) Config {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Tiles 0: m x n sums, 1: m x k, 2: k x n, k and n in lanes of 32 bits.
Config ShapesOf(int m, int n, int k) {
  Config config;
  const int shapes[3][2] = {{m, n}, {m, k}, {k, n}};
  for (int t = 0; t < 3; ++t) {
    config.rows[t] = static_cast<uint8_t>(shapes[t][0]);
    config.row_bytes[t] = static_cast<uint16_t>(4 * shapes[t][1]);
  }
  return config;
}

void Use(const Config& config) { asm volatile("ldtilecfg %0" : : "m"(config)); }
void Release() { asm volatile("tilerelease"); }

enum class Product { kBFloat16, kSignedSigned, kSignedUnsigned, kUnsignedSigned, kUnsignedUnsigned };

void Multiply(Product product) {
  switch (product) {
    case Product::kBFloat16: asm volatile("tdpbf16ps %tmm2, %tmm1, %tmm0"); break;
    case Product::kSignedSigned: asm volatile("tdpbssd %tmm2, %tmm1, %tmm0"); break;
    case Product::kSignedUnsigned: asm volatile("tdpbsud %tmm2, %tmm1, %tmm0"); break;
    case Product::kUnsignedSigned: asm volatile("tdpbusd %tmm2, %tmm1, %tmm0"); break;
    case Product::kUnsignedUnsigned: asm volatile("tdpbuud %tmm2, %tmm1, %tmm0"); break;
  }
}

// sums += a b of lanes that lie row after row.
void MultiplyOnce(Product product, const Config& config, void* sums, const void* a, const void* b) {
  const auto stride = [&](int t) { return int64_t{config.row_bytes[t]}; };
  Use(config);
  asm volatile("tileloadd (%0,%1,1), %%tmm0" : : "r"(sums), "r"(stride(0)) : "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm1" : : "r"(a), "r"(stride(1)) : "memory");
  asm volatile("tileloadd (%0,%1,1), %%tmm2" : : "r"(b), "r"(stride(2)) : "memory");
  Multiply(product);
  asm volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(sums), "r"(stride(0)) : "memory");
  Release();
}

TEST(EmulatedAmx, MultipliesBytes) {
  const EmulatedAmx amx;
  std::mt19937 random(1);
  for (const auto& [m, n, k] :
       {std::array{16, 16, 16}, std::array{1, 1, 1}, std::array{3, 5, 7}, std::array{16, 1, 9}}) {
    for (const auto& [product, signed_a, signed_b] :
         {std::tuple{Product::kSignedSigned, true, true}, std::tuple{Product::kSignedUnsigned, true, false},
          std::tuple{Product::kUnsignedSigned, false, true}, std::tuple{Product::kUnsignedUnsigned, false, false}}) {
      uint8_t a[16 * 64], b[16 * 64];
      int32_t sums[16 * 16], want[16 * 16];
      for (int i = 0; i < 16 * 64; ++i) {
        a[i] = static_cast<uint8_t>(i % 5 == 0 ? 0x80 : random());
        b[i] = static_cast<uint8_t>(i % 7 == 0 ? 0x80 : random());
      }
      for (int i = 0; i < m * n; ++i) {
        sums[i] = want[i] = static_cast<int32_t>(random() % 1000) - 500;
      }
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          for (int l = 0; l < 4 * k; ++l) {
            const uint8_t x = a[i * 4 * k + l];
            const uint8_t y = b[l / 4 * 4 * n + 4 * j + l % 4];
            want[i * n + j] += (signed_a ? static_cast<int8_t>(x) : x) * (signed_b ? static_cast<int8_t>(y) : y);
          }
        }
      }
      MultiplyOnce(product, ShapesOf(m, n, k), sums, a, b);
      EXPECT_EQ(std::memcmp(sums, want, sizeof(int32_t) * static_cast<size_t>(m * n)), 0) << m << " " << n << " " << k;
    }
  }
}

// One sum of 2 k products of bf16.
float SumOf(const std::vector<float>& a, const std::vector<float>& b, float start) {
  const int k = static_cast<int>(a.size()) / 2;
  uint16_t x[32] = {}, y[32] = {};
  for (size_t i = 0; i < a.size(); ++i) {
    x[i] = BFloat16(a[i]).bits;
    y[i] = BFloat16(b[i]).bits;
  }
  float sum = start;
  MultiplyOnce(Product::kBFloat16, ShapesOf(1, 1, k), &sum, x, y);
  return sum;
}

TEST(EmulatedAmx, SumsPairsApartThenTogetherThenToTheTile) {
  const EmulatedAmx amx;
  const float big = 0x1p30F;
  EXPECT_EQ(SumOf({1, 2, 3, 4}, {5, 6, 7, 8}, 100), 5 + 12 + 21 + 32 + 100);
  // The first of each pair: big + 1 - big loses the 1, but not the second's.
  EXPECT_EQ(SumOf({big, 0, 1, 0, -big, 0}, {1, 1, 1, 1, 1, 1}, 0), 0);
  EXPECT_EQ(SumOf({big, 0, 0, 1, -big, 0}, {1, 1, 1, 1, 1, 1}, 0), 1);
  EXPECT_EQ(SumOf({big, 0, -big, 0}, {1, 1, 1, 1}, 1), 1) << "the tile comes last";
  // Products are not rounded: (1 + 2^-7)^2 - 1 - 2^-6 is 2^-14; to nearest even at the end.
  EXPECT_EQ(SumOf({1, 0, 1 + 0x1p-7F, 0}, {-1 - 0x1p-6F, 0, 1 + 0x1p-7F, 0}, 0), 0x1p-14F);
  EXPECT_EQ(SumOf({1, 0}, {0x1p-24F, 0}, 1), 1) << "a half, to even";
  EXPECT_EQ(SumOf({1, 0}, {0x1.8p-24F, 0}, 1), 1 + 0x1p-23F);
}

TEST(EmulatedAmx, TakesDenormalsForZeroWhateverTheThreadHasSet) {
  const EmulatedAmx amx;
  const float least = std::numeric_limits<float>::min();
  EXPECT_EQ(SumOf({least / 2, 0}, {0x1p10F, 0}, 0), 0) << "operand";
  EXPECT_EQ(SumOf({least, 0}, {0.5F, 0}, 0), 0) << "result";
  EXPECT_EQ(SumOf({0, 0}, {0, 0}, least / 2), 0) << "sum";
  EXPECT_EQ(SumOf({least, 0}, {1, 0}, 0), least);
  volatile float own = least;
  own = own / 2;
  EXPECT_GT(own, 0) << "the thread's own arithmetic is as before";
  EXPECT_TRUE(std::isnan(SumOf({INFINITY, 0}, {0, 0}, 0)));
  EXPECT_EQ(SumOf({INFINITY, 0}, {-1, 0}, 5), -INFINITY);
  EXPECT_TRUE(std::isnan(SumOf({INFINITY, -INFINITY}, {1, 1}, 0)));
}

TEST(EmulatedAmx, MovesRowsOfTilesAndClears) {
  const EmulatedAmx amx;
  uint8_t from[5 * 100], to[5 * 100] = {};
  for (int i = 0; i < 5 * 100; ++i) {
    from[i] = static_cast<uint8_t>(i * 7);
  }
  Use(ShapesOf(5, 3, 5));
  const int64_t stride = 100;
  asm volatile("tileloadd (%0,%1,1), %%tmm0" : : "r"(from), "r"(stride) : "memory");
  asm volatile("tilestored %%tmm0, 0x10(%0,%1,1)" : : "r"(to), "r"(stride) : "memory");
  for (int i = 0; i < 5 * 100; ++i) {
    const bool inside = i >= 16 && (i - 16) % 100 < 12;
    EXPECT_EQ(to[i], inside ? from[i - 16] : 0) << i;
  }
  asm volatile("tilezero %tmm0");
  asm volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(from), "r"(stride) : "memory");
  EXPECT_EQ(from[411], 0);
  EXPECT_EQ(from[412], static_cast<uint8_t>(412 * 7));
  Config config;
  asm volatile("sttilecfg %0" : "=m"(config));
  EXPECT_EQ(config.rows[0], 5);
  EXPECT_EQ(config.row_bytes[2], 12);
  Release();
}

TEST(EmulatedAmx, HasTilesOfEachThreadUntilTheyAreReleased) {
  const EmulatedAmx amx;
  if (!Emulates()) {
    GTEST_SKIP() << "the processor has its own";
  }
  EXPECT_FALSE(TilesInUse());
  Use(ShapesOf(1, 1, 1));
  EXPECT_TRUE(TilesInUse());
  std::thread([] { EXPECT_FALSE(TilesInUse()); }).join();
  Release();
  EXPECT_FALSE(TilesInUse());
}

// What a processor refuses must not pass here.
TEST(SlowEmulatedAmxDeathTest, RefusesWhatAProcessorRefuses) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  // A processor with tiles of its own refuses some of it as a fault of memory.
  const auto refuses = [](int status) {
    return testing::KilledBySignal(SIGILL)(status) || (!Emulates() && testing::KilledBySignal(SIGSEGV)(status));
  };
  const auto dies = [&](const auto& act) {
    EXPECT_EXIT(
        {
          const EmulatedAmx amx;
          act();
        },
        refuses, "");
  };
  dies([] { Multiply(Product::kBFloat16); });  // no tiles
  dies([] {
    Config config = ShapesOf(16, 16, 16);
    config.rows[1] = 17;
    Use(config);
  });
  dies([] {
    Config config = ShapesOf(16, 16, 16);
    config.rows[8] = 1;
    Use(config);
  });
  dies([] {
    Config config = ShapesOf(16, 16, 16);
    config.rows[2] = 15;  // as many as a row of the first operand has lanes
    Use(config);
    Multiply(Product::kSignedSigned);
  });
  dies([] {
    Config config = ShapesOf(16, 16, 16);
    config.row_bytes[0] = 60;
    Use(config);
    Multiply(Product::kBFloat16);
  });
}

}  // namespace
}  // namespace lamina::amx_emulated

#endif
