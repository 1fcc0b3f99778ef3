// Products that a backend reduces while it computes them, against plain loops.
#include "lamina/backend/reductions.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lamina/base/half.h"
#include "lamina/base/random.h"
#include "tests/conformance/configurations.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::Configuration;

class ReductionsOn : public testing::TestWithParam<Configuration> {};
INSTANTIATE_TEST_SUITE_P(Reductions, ReductionsOn, testing::ValuesIn(conformance::OwnConfigurations()),
                         [](const auto& instance) { return instance.param.Name(); });

template <class T>
Matrix RandomRows(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix numbers(rows, cols, DTypeOf<T>());
  Random random(seed);
  for (int64_t i = 0; i < rows; ++i) {
    std::generate_n(numbers.Row<T>(i), cols, [&] { return static_cast<T>(random.Uniform(-1, 1)); });
  }
  return numbers;
}

double Rounded(double value, Precision precision) {
  return precision == Precision::kBFloat16
             ? static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(value))))
             : value;
}

// Rows in two blocks, the second smaller; columns that lie between others.
template <class T>
void CheckGram(const Reduces& backend, int64_t rows, int64_t columns, Precision precision) {
  constexpr double kThere = 0.25;
  constexpr int64_t kMore = 3;
  const Matrix h = RandomRows<T>(rows, columns + kMore, 1);
  const int64_t first = (rows + 1) / 2;
  const std::unique_ptr<GramSum> sum = backend.PrepareGram({first, columns, DTypeOf<T>(), precision});
  ASSERT_NE(sum, nullptr);
  Matrix gram(columns, columns, DType::kF64);
  for (int64_t i = 0; i < columns; ++i) {
    std::fill_n(gram.Row<double>(i), columns, kThere);
  }
  ConstMatrixView part = h.view();
  part.cols = columns;
  sum->Add(part.Rows(0, first), gram.view());
  if (rows > first) {
    sum->Add(part.Rows(first, rows - first), gram.view());
  }
  for (int64_t i = 0; i < columns; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double expected = kThere;
      for (int64_t k = 0; j <= i && k < rows; ++k) {
        expected += Rounded(static_cast<double>(h.Row<T>(k)[i]), precision) *
                    Rounded(static_cast<double>(h.Row<T>(k)[j]), precision);
      }
      const double tolerance = j > i ? 0 : (sizeof(T) == 8 ? 1e-13 : 2e-6) * static_cast<double>(rows);
      ASSERT_NEAR(gram.Row<double>(i)[j], expected, tolerance) << rows << " x " << columns << " at " << i << " " << j;
    }
  }
}

TEST_P(ReductionsOn, ProductsOfColumnsAreAddedBelowTheDiagonalAlone) {
  const Chosen chosen(GetParam());
  const auto& backend = dynamic_cast<const Reduces&>(chosen.get());
  for (const int64_t columns : {1, 2, 7, 50, 97}) {
    for (const int64_t rows : {1, 5, 40}) {
      CheckGram<float>(backend, rows, columns, Precision::kExact);
      CheckGram<double>(backend, rows, columns, Precision::kExact);
      CheckGram<float>(backend, rows, columns, Precision::kBFloat16);
    }
  }
  CheckGram<float>(backend, 2100, 130, Precision::kExact);  // sums in more than one block
  CheckGram<double>(backend, 1100, 60, Precision::kExact);
}

TEST_P(ReductionsOn, WhatIsNearerThanTheLimitOfItsRowIsTold) {
  const Chosen chosen(GetParam());
  const auto& backend = dynamic_cast<const Reduces&>(chosen.get());
  constexpr int64_t kInputs = 6;
  const Matrix x = RandomRows<float>(53, kInputs, 2);
  const Matrix y = RandomRows<float>(71, kInputs, 3);
  for (const Synapse synapse : {Synapse::kDot, Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}) {
    LayerPlanRequest request{{kInputs, y.rows(), synapse, Activation(), /*bias=*/false}, DType::kF32, x.rows()};
    const std::unique_ptr<NearSearch> search = backend.PrepareNear(request);
    ASSERT_NE(search, nullptr);
    Matrix distances(x.rows(), y.rows(), DType::kF32);
    request.any_slicing = true;
    StagedLayer(chosen.get(), request).Forward({.x = x.view(), .weights = y.view(), .a = distances.view()});
    std::vector<float> limits;
    for (int64_t i = 0; i < x.rows(); ++i) {  // of row i its i-th distance
      limits.push_back(distances.Row<float>(i)[i]);
    }
    struct Told {
      int64_t row, output;
      double sum;
    };
    std::vector<Told> told;
    search->Search({x.view(), y.view(), limits.data(),
                    [](void* context, int64_t row, int64_t output, double sum) {
                      static_cast<std::vector<Told>*>(context)->push_back({row, output, sum});
                    },
                    &told});
    std::stable_sort(told.begin(), told.end(), [](const Told& a, const Told& b) { return a.row < b.row; });
    auto next = told.begin();
    for (int64_t i = 0; i < x.rows(); ++i) {
      for (int64_t j = 0; j < y.rows(); ++j) {
        const float value = distances.Row<float>(i)[j];
        const float limit = limits[static_cast<size_t>(i)];
        if (synapse == Synapse::kDot ? value > limit : value < limit) {
          ASSERT_NE(next, told.end());
          EXPECT_EQ(next->row, i);
          EXPECT_EQ(next->output, j);
          EXPECT_EQ(next->sum, static_cast<double>(value));
          ++next;
        }
      }
    }
    EXPECT_EQ(next, told.end());
  }
}

}  // namespace
}  // namespace lamina
