// The kernels of single rows on every instruction set.
#include "lamina/backend/cpu/row_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lamina/base/random.h"
#include "tests/conformance/configurations.h"

namespace lamina::conformance {
namespace {

// A reciprocal's product, mended, rounds as the division does: any mantissas, near and far exponents, every number of
// columns beside whole vectors.
TEST(RowKernels, DivideAsDivisionsDo) {
  Random random(3);
  const auto any = [&](double decades) {
    return (random.Uniform(0, 1) < 0.5 ? -1 : 1) * random.Uniform(1, 2) *
           std::pow(10.0, random.Uniform(-decades, decades));
  };
  for (const std::string& target : CpuTargets()) {
    SCOPED_TRACE(target);
    const Chosen chosen({"cpu", "own", target, 1});
    const cpu::RowTable& kernels = cpu::RowKernels();
    for (int64_t count = 1; count <= 40; ++count) {
      std::vector<double> row, offsets, scales, reciprocals, fills, f64(40);
      std::vector<float> f32(40);
      for (int64_t round = 0; round < 200; ++round) {
        const double decades = round % 2 == 0 ? 1 : 130;
        row.clear(), offsets.clear(), scales.clear(), reciprocals.clear(), fills.clear();
        for (int64_t i = 0; i < count; ++i) {
          row.push_back(i % 5 == 4 ? std::numeric_limits<double>::quiet_NaN() : any(decades));
          offsets.push_back(i % 3 == 0 ? 0 : any(decades));
          scales.push_back(std::abs(any(decades)));
          reciprocals.push_back(1 / scales.back());
          fills.push_back(any(decades));
        }
        const cpu::RowStandard standard{offsets.data(), scales.data(), reciprocals.data(), fills.data(), count};
        const bool good_f64 = kernels.standardize_f64(standard, row.data(), f64.data());
        const bool good_f32 = kernels.standardize_f32(standard, row.data(), f32.data());
        bool finite_f64 = true, finite_f32 = true;
        for (size_t i = 0; i < row.size(); ++i) {
          const double expected = ((std::isnan(row[i]) ? fills[i] : row[i]) - offsets[i]) / scales[i];
          finite_f64 = finite_f64 && std::isfinite(expected);
          finite_f32 = finite_f32 && std::isfinite(static_cast<float>(expected));
          ASSERT_EQ(f64[i], expected) << row[i] << " - " << offsets[i] << " over " << scales[i];
          if (std::isfinite(static_cast<float>(expected))) {
            ASSERT_EQ(f32[i], static_cast<float>(expected));
          }
        }
        ASSERT_EQ(good_f64, finite_f64);
        ASSERT_EQ(good_f32, finite_f32);
      }
    }
  }
}

}  // namespace
}  // namespace lamina::conformance
