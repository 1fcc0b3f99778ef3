// Tests of a layer on its own and of pairwise distances.
#include "lamina/layer/layer.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

Matrix RandomF32(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix matrix(rows, cols, DType::kF32);
  Random random(seed);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < cols; ++k) {
      matrix.Row<float>(i)[k] = static_cast<float>(random.Uniform(-1, 1));
    }
  }
  return matrix;
}

TEST(PairwiseDistance, AgreesWithTheDefinition) {
  const Matrix x = RandomF32(37, 53, 1);
  const Matrix w = RandomF32(29, 53, 2);
  for (const char* name : {"serial", "threads", "cpu"}) {
    const auto backend = MakeBackend(name);
    const Matrix l1 = PairwiseDistance(x.view(), w.view(), Synapse::kL1, *backend);
    const Matrix l2 = PairwiseDistance(x.view(), w.view(), Synapse::kL2, *backend);
    ASSERT_EQ(l1.rows(), 37);
    ASSERT_EQ(l1.cols(), 29);
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t j = 0; j < 29; ++j) {
        double absolute = 0;
        double square = 0;
        for (int64_t k = 0; k < 53; ++k) {
          const double difference = static_cast<double>(x.Row<float>(i)[k]) - w.Row<float>(j)[k];
          absolute += std::abs(difference);
          square += difference * difference;
        }
        EXPECT_NEAR(l1.Row<float>(i)[j], absolute, 1e-4) << name;
        EXPECT_NEAR(l2.Row<float>(i)[j], std::sqrt(square), 1e-5) << name;
      }
    }
  }
}

// Bytes and 16-bit integers: exact sums, of the type that SumType() says; l2 is a root in f32.
TEST(PairwiseDistance, OfIntegersIsExact) {
  const auto backend = MakeBackend("auto");
  Matrix x(3, 40, DType::kU8);
  Matrix w(2, 40, DType::kU8);
  for (int64_t k = 0; k < 40; ++k) {
    x.Row<uint8_t>(1)[k] = 255;
    w.Row<uint8_t>(1)[k] = static_cast<uint8_t>(k);
  }
  const Matrix l1 = PairwiseDistance(x.view(), w.view(), Synapse::kL1, *backend);
  ASSERT_EQ(l1.dtype(), DType::kI32);
  EXPECT_EQ(l1.Row<int32_t>(1)[0], 255 * 40);
  EXPECT_EQ(l1.Row<int32_t>(1)[1], 255 * 40 - 780);
  EXPECT_EQ(l1.Row<int32_t>(0)[1], 780);
  const Matrix l2 = PairwiseDistance(x.view(), w.view(), Synapse::kL2, *backend);
  ASSERT_EQ(l2.dtype(), DType::kF32);
  EXPECT_FLOAT_EQ(l2.Row<float>(1)[0], 255 * std::sqrt(40.0F));
  Matrix wide(1, 3, DType::kI32);
  wide.Row<int32_t>(0)[0] = -1'000'000;
  const Matrix dot =
      PairwiseDistance(wide.view(), wide.view(), Synapse::kDot, *backend);  // fits, as the data are small
  ASSERT_EQ(dot.dtype(), DType::kI64);
  EXPECT_EQ(dot.Row<int64_t>(0)[0], 1'000'000'000'000);
}

TEST(PairwiseDistance, NamesBothShapes) {
  const auto backend = MakeBackend("cpu");
  const Matrix x = RandomF32(3, 5, 1);
  const Matrix w = RandomF32(4, 6, 2);
  const std::string what = CaughtError([&] { PairwiseDistance(x.view(), w.view(), Synapse::kL1, *backend); }).what();
  EXPECT_NE(what.find("3 x 5"), std::string::npos) << what;
  EXPECT_NE(what.find("4 x 6"), std::string::npos) << what;
}

TEST(Layer, IsPlannedOnceAndChecksShapes) {
  const auto backend = MakeBackend("cpu");
  Layer layer({5, 4, Synapse::kL1, Activation("triangle(radius=2)"), false}, *backend, 3);
  const Matrix x = RandomF32(3, 5, 1);
  const Matrix w = RandomF32(4, 5, 2);
  Matrix out(3, 4, DType::kF32);
  layer.Forward(x.view(), w.view(), nullptr, out.view());
  const Matrix distances = PairwiseDistance(x.view(), w.view(), Synapse::kL1, *backend);
  EXPECT_NEAR(out.Row<float>(2)[3], std::max(0.0, 1 - distances.Row<float>(2)[3] / (2.5066 * 2)), 1e-6);
  const Matrix more = RandomF32(4, 5, 1);
  EXPECT_THROW(layer.Forward(more.view(), w.view(), nullptr, out.view()), Error);
  EXPECT_THROW(layer.Forward(x.view(), x.view(), nullptr, out.view()), Error);
  EXPECT_THROW(layer.Forward(x.view(), w.view(), w.data(), out.view()), Error);
  EXPECT_THROW(Layer({5, 4, Synapse::kL1, Activation(), false}, *MakeBackend("serial"), -1), Error);
}

}  // namespace
}  // namespace lamina
