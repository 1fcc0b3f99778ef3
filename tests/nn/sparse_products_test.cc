// Products of sparse rows against dense loops, and a network whose first sums are given against the whole one.
#include "lamina/nn/sparse_products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/buffer.h"
#include "lamina/base/random.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/network.h"

namespace lamina {
namespace {

struct SparseAndDense {
  SparseRows sparse;
  Matrix dense;
};

// About a fifth of the numbers, one row empty and one full.
template <class T>
SparseAndDense SomeSparseRows(int64_t rows, int64_t cols) {
  Random random(3);
  Matrix dense(rows, cols, DTypeOf<T>());
  std::vector<int64_t> starts = {0};
  std::vector<int32_t> columns;
  std::vector<T> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      dense.Row<T>(i)[j] = T(0);
      if (i != 1 && (i == 2 || random.Uniform() < 0.2)) {
        dense.Row<T>(i)[j] = static_cast<T>(random.Uniform() - 0.5);
        columns.push_back(static_cast<int32_t>(j));
        values.push_back(dense.Row<T>(i)[j]);
      }
    }
    starts.push_back(std::ssize(columns));
  }
  return {SparseRows({starts, columns, values.data(), DTypeOf<T>(), cols}, {}, {}, DTypeOf<T>()), std::move(dense)};
}

Matrix RandomDoubles(int64_t rows, int64_t cols) {
  Matrix numbers(rows, cols, DType::kF64);
  Random random(4);
  std::generate_n(numbers.Row<double>(0), rows * cols, [&] { return random.Uniform() - 0.5; });
  return numbers;
}

template <class T>
void CompareWithLoops(int64_t outputs) {
  constexpr int64_t kRows = 23;
  constexpr int64_t kCols = 31;
  constexpr int64_t kBegin = 1;
  constexpr int64_t kCount = 17;
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;
  const SparseAndDense made = SomeSparseRows<T>(kRows, kCols);
  const SparseRows& sparse = made.sparse;
  const Matrix& dense = made.dense;
  ASSERT_TRUE(sparse.keeps_zeros());
  const Matrix weights = RandomDoubles(kCols, outputs);
  Matrix first_sums;
  Matrix first_gradient;
  for (const int threads : {1, 2, 5}) {
    Matrix sums(kCount, outputs, DTypeOf<T>());
    SparseForward(sparse, kBegin, weights.view(), sums.view(), threads);
    Matrix gradient = RandomDoubles(kCols, outputs);
    SparseGradient(sparse, kBegin, sums.view(), 0.25, gradient.view(), threads);
    if (threads == 1) {
      for (int64_t j = 0; j < outputs; ++j) {
        for (int64_t i = 0; i < kCount; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < kCols; ++k) {
            sum += static_cast<double>(dense.Row<T>(kBegin + i)[k]) * weights.Row<double>(k)[j];
          }
          EXPECT_NEAR(static_cast<double>(sums.Row<T>(i)[j]), sum, tolerance) << i << " " << j;
        }
        for (int64_t k = 0; k < kCols; ++k) {
          double sum = weights.Row<double>(k)[j];  // where it began
          for (int64_t i = 0; i < kCount; ++i) {
            sum += 0.25 * static_cast<double>(dense.Row<T>(kBegin + i)[k]) * static_cast<double>(sums.Row<T>(i)[j]);
          }
          EXPECT_NEAR(gradient.Row<double>(k)[j], sum, tolerance) << k << " " << j;
        }
      }
      first_sums = std::move(sums);
      first_gradient = std::move(gradient);
    } else {
      EXPECT_EQ(std::memcmp(sums.data(), first_sums.data(), static_cast<size_t>(kCount * outputs) * sizeof(T)), 0);
      EXPECT_EQ(
          std::memcmp(gradient.data(), first_gradient.data(), static_cast<size_t>(kCols * outputs) * sizeof(double)),
          0);
    }
  }
}

TEST(SparseProducts, AreThoseOfDenseRows) {
  for (const int64_t outputs : {1, 2, 8, 33, 100, 130}) {
    CompareWithLoops<float>(outputs);
    CompareWithLoops<double>(outputs);
  }
}

TEST(SparseProducts, ScalingThatMovesZerosIsTold) {
  const std::vector<int64_t> starts = {0, 1};
  const std::vector<int32_t> columns = {1};
  const std::vector<double> values = {2};
  const CompressedRows rows{starts, columns, values.data(), DType::kF64, 2};
  EXPECT_TRUE(SparseRows(rows, std::vector<double>{0, 0}, std::vector<double>{2, 4}, DType::kF64).keeps_zeros());
  EXPECT_FALSE(SparseRows(rows, std::vector<double>{0, 1}, std::vector<double>{2, 4}, DType::kF64).keeps_zeros());
}

// The network from its first sums on gives loss, gradients and first delta of the whole.
TEST(GivenSums, GradientsAreThoseOfTheWholeNetwork) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  for (const char* text : {"dot-tanh:5,dot-softmax:3", "dot-mish:5,dot-relu:4,dot-softmax:3", "dot-softmax:3"}) {
    constexpr int64_t kRows = 9;
    constexpr int64_t kInputs = 6;
    Network whole(ParseLayers(text, kInputs, /*bias=*/true), DType::kF64);
    whole.Initialize(Initialization::kGlorotUniform, 7);
    const int64_t first = whole.layers().front().outputs;
    Network tail(ParseLayers(text, first, /*bias=*/true), DType::kF64);
    for (size_t l = 0; l < whole.layers().size(); ++l) {
      const LayerSpec& spec = whole.layers()[l];
      auto* const bias = static_cast<double*>(whole.Bias(l));
      std::fill_n(bias, spec.outputs, 0.1 * static_cast<double>(l + 1));
      std::copy_n(bias, spec.outputs, static_cast<double*>(tail.Bias(l)));
      if (l > 0) {
        std::copy_n(static_cast<double*>(whole.Weights(l).data), spec.weight_count(),
                    static_cast<double*>(tail.Weights(l).data));
      }
    }
    const Matrix x = RandomDoubles(kRows, kInputs);
    Matrix sums(kRows, first, DType::kF64);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < first; ++j) {
        const double* const w = whole.Weights(0).Row<double>(j);
        sums.Row<double>(i)[j] = 0;
        for (int64_t k = 0; k < kInputs; ++k) {
          sums.Row<double>(i)[j] += w[k] * x.Row<double>(i)[k];
        }
      }
    }
    Matrix targets(kRows, 3, DType::kF64);
    for (int64_t i = 0; i < kRows; ++i) {
      std::fill_n(targets.Row<double>(i), 3, 0.0);
      targets.Row<double>(i)[i % 3] = 1;
    }
    ExecutorOptions options;
    options.max_batch = kRows;
    options.training = true;
    options.loss = Loss::kCrossEntropy;
    Executor all(whole, *backend, options);
    options.first_sums_given = true;
    Executor behind(tail, *backend, options);
    EXPECT_FALSE(behind.whole_steps());
    LossSums expected;
    LossSums found;
    all.Step(x.view(), targets.view(), nullptr, nullptr, &expected);
    behind.Step(sums.view(), targets.view(), nullptr, nullptr, &found);
    EXPECT_NEAR(found.loss, expected.loss, 1e-12) << text;
    const auto* const gradients = static_cast<const double*>(all.gradients().data());
    const auto* const of_tail = static_cast<const double*>(behind.gradients().data());
    for (size_t l = 0; l < whole.layers().size(); ++l) {
      for (int64_t j = 0; j < whole.layers()[l].outputs; ++j) {
        EXPECT_NEAR(of_tail[tail.offsets()[l].bias + j], gradients[whole.offsets()[l].bias + j], 1e-12) << text;
      }
      for (int64_t n = 0; l > 0 && n < whole.layers()[l].weight_count(); ++n) {
        EXPECT_NEAR(of_tail[tail.offsets()[l].weights + n], gradients[whole.offsets()[l].weights + n], 1e-12) << text;
      }
    }
    const MatrixView delta = behind.FirstDelta(kRows);
    for (int64_t j = 0; j < first; ++j) {
      for (int64_t k = 0; k < kInputs; ++k) {
        double sum = 0;
        for (int64_t i = 0; i < kRows; ++i) {
          sum += delta.Row<double>(i)[j] * x.Row<double>(i)[k];
        }
        EXPECT_NEAR(sum, gradients[whole.offsets()[0].weights + j * kInputs + k], 1e-12) << text;
      }
    }
  }
}

}  // namespace
}  // namespace lamina
