// Weights in fewer bits: how far rounding moves them, that it moves them once, and what has no place in them.
#include "lamina/neuron/weight_storage.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

// Random rows of very different sizes, a row of zeros and one of the smallest numbers.
Matrix WeightsOfManySizes(DType dtype) {
  Matrix weights = RandomMatrix(12, 37, dtype, 3);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t j = 0; j < 12; ++j) {
      const T size = j == 10 ? T(0) : j == 11 ? T(1e-38) : static_cast<T>(std::pow(4.0, j - 5));
      std::for_each(weights.Row<T>(j), weights.Row<T>(j) + 37, [&](T& weight) { weight *= size; });
    }
  });
  return weights;
}

// The most that rounding may move a weight, from the definition of each type.
double MostMoved(WeightStorage storage, double weight, double largest_of_row) {
  switch (storage) {
    case WeightStorage::kExact: return 0;
    case WeightStorage::kBF16: return std::abs(weight) * 0x1p-8 + 0x1p-134;
    case WeightStorage::kF16: return std::abs(weight) * 0x1p-11 + 0x1p-25;
    case WeightStorage::kI8: break;
  }
  return std::max(largest_of_row / 127 * (1 + 0x1p-15), 0x1p-126) / 2;
}

TEST(WeightStorage, RoundsToTheNearestAndOnlyOnce) {
  for (const std::string& name : WeightStorageNames()) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      SCOPED_TRACE(fmt::format("{} of {}", name, DTypeName(dtype)));
      const WeightStorage storage = ParseWeightStorage(name);
      EXPECT_EQ(WeightStorageName(storage), name);
      const Matrix weights = WeightsOfManySizes(dtype);
      const StoredWeights stored = StoreWeights(weights.view(), storage);
      Matrix wide(12, 37, dtype);
      stored.Widen(wide.view());
      const StoredWeights again = StoreWeights(wide.view(), storage);
      EXPECT_EQ(again.scales, stored.scales);
      Matrix twice(12, 37, dtype);
      again.Widen(twice.view());
      DispatchFloat(dtype, [&]<class T>(T) {
        for (int64_t j = 0; j < 12; ++j) {
          double largest = 0;
          for (int64_t k = 0; k < 37; ++k) {
            largest = std::max(largest, std::abs(static_cast<double>(weights.Row<T>(j)[k])));
          }
          for (int64_t k = 0; k < 37; ++k) {
            const double weight = weights.Row<T>(j)[k];
            const double kept = wide.Row<T>(j)[k];
            ASSERT_LE(std::abs(kept - weight), MostMoved(storage, weight, largest)) << j << ", " << k;
            ASSERT_EQ(twice.Row<T>(j)[k], kept) << j << ", " << k;
            ASSERT_TRUE(storage == WeightStorage::kExact || static_cast<double>(static_cast<float>(kept)) == kept)
                << "an f32 holds it";
          }
        }
      });
    }
  }
}

TEST(WeightStorage, RefusesWhatItCannotHold) {
  struct Case {
    double weight;
    bool bf16, f16, i8;  // whether it has a place there
  };
  for (const Case& work :
       {Case{std::numeric_limits<double>::infinity(), false, false, false},
        Case{-std::numeric_limits<double>::infinity(), false, false, false}, Case{std::nan(""), false, false, false},
        Case{-65520, true, false, true}, Case{65519, true, true, true},
        Case{std::numeric_limits<float>::max(), false, false, false}, Case{3.4e38, false, false, true},
        Case{3.3e38, true, false, true}, Case{0, true, true, true}}) {
    Matrix weights = RandomMatrix(3, 5, DType::kF32, 3);
    weights.Row<float>(1)[4] = static_cast<float>(work.weight);
    for (const auto& [storage, fits] :
         {std::pair{WeightStorage::kBF16, work.bf16}, {WeightStorage::kF16, work.f16}, {WeightStorage::kI8, work.i8}}) {
      SCOPED_TRACE(fmt::format("{} in {}", work.weight, WeightStorageName(storage)));
      if (fits) {
        EXPECT_NO_THROW(StoreWeights(weights.view(), storage));
        continue;
      }
      const Error error = CaughtError([&, storage = storage] { StoreWeights(weights.view(), storage); });
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_TRUE(Mentions(error.what(), "input 4 in neuron 1"));
    }
  }
}

TEST(WeightStorage, CentresOfDistancesStayExact) {
  for (const std::string& synapse : SynapseNames()) {
    LayerSpec layer;
    layer.synapse = ParseSynapse(synapse);
    EXPECT_EQ(StoresWeights(layer, WeightStorage::kI8), !IsDistance(layer.synapse));
    EXPECT_FALSE(StoresWeights(layer, WeightStorage::kExact));
  }
}

}  // namespace
}  // namespace lamina
