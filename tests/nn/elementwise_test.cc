// What stages need beside layers, on every backend and the emulated GPU, beside loops over single elements.
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/host_elementwise.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

constexpr int64_t kElementRows = 37;
constexpr int64_t kElementCols = 70;  // more than a piece of columns

// A matrix in a backend's memory.
class Placed {
 public:
  Placed(const Backend& backend, const Matrix& host)
      : backend_(backend), host_(host), buffer_(backend.Allocate(host.rows() * host.cols() * sizeof(double))) {
    backend.Upload(buffer_->data(), host.data(), buffer_->size_bytes());
  }
  MatrixView view() const {
    return {buffer_->data(), host_.rows(), host_.cols(), host_.cols(), DType::kF64, backend_.space()};
  }
  void* data() const { return buffer_->data(); }
  std::vector<double> Numbers() const {
    std::vector<double> numbers(static_cast<size_t>(host_.rows() * host_.cols()));
    backend_.Synchronize();
    backend_.Download(numbers.data(), buffer_->data(), buffer_->size_bytes());
    return numbers;
  }

 private:
  const Backend& backend_;
  const Matrix& host_;
  std::unique_ptr<Buffer> buffer_;
};

Matrix SomeMatrix(uint64_t seed, int64_t rows = kElementRows, int64_t cols = kElementCols) {
  return RandomMatrix(rows, cols, DType::kF64, seed);
}

// Calls `check(row, col, what came out)` for every element.
void ForNumbers(const Placed& placed, const std::function<void(int64_t, int64_t, double)>& check) {
  const std::vector<double> numbers = placed.Numbers();
  const MatrixView view = placed.view();
  for (int64_t i = 0; i < view.rows; ++i) {
    for (int64_t j = 0; j < view.cols; ++j) {
      check(i, j, numbers[static_cast<size_t>(i * view.cols + j)]);
    }
  }
}

class ElementwiseTest : public testing::Test {
 protected:
  // For every backend: its operations on a, b and to, all of one shape, then `expected(row, col)` of `to`.
  void Expect(const std::function<void(const Elementwise&, const Placed&, const Placed&, const Placed&)>& compute,
              const std::function<double(int64_t, int64_t)>& expected) {
    for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
      SCOPED_TRACE(backend->name());
      const Placed a(*backend, a_);
      const Placed b(*backend, b_);
      const Placed to(*backend, to_);
      compute(backend->elementwise(), a, b, to);
      ForNumbers(to, [&](int64_t i, int64_t j, double got) {
        ASSERT_NEAR(got, expected(i, j), 1e-13 * (1 + std::abs(expected(i, j)))) << i << ", " << j;
      });
    }
  }
  double A(int64_t i, int64_t j) const { return a_.Row<double>(i)[j]; }
  double B(int64_t i, int64_t j) const { return b_.Row<double>(i)[j]; }
  double To(int64_t i, int64_t j) const { return to_.Row<double>(i)[j]; }

  Matrix a_ = SomeMatrix(1);
  Matrix b_ = SomeMatrix(2);
  Matrix to_ = SomeMatrix(3);
};

TEST_F(ElementwiseTest, OfTwoMatrices) {
  Expect([](const Elementwise& ops, const Placed& a, const Placed& b,
            const Placed& to) { ops.Multiply(a.view(), b.view(), to.view()); },
         [&](int64_t i, int64_t j) { return A(i, j) * B(i, j); });
  Expect([](const Elementwise& ops, const Placed& a, const Placed&,
            const Placed& to) { ops.Add(a.view(), to.view(), to.view()); },
         [&](int64_t i, int64_t j) { return A(i, j) + To(i, j); });
  Expect([](const Elementwise& ops, const Placed&, const Placed&, const Placed& to) { ops.Fill(to.view(), 2.5); },
         [](int64_t, int64_t) { return 2.5; });
}

// The first rows alone, and a scale that is the first row of another matrix.
TEST_F(ElementwiseTest, Columns) {
  Expect([](const Elementwise& ops, const Placed& a, const Placed& b,
            const Placed& to) { ops.ScaleColumns(a.view(), b.data(), to.view()); },
         [&](int64_t i, int64_t j) { return A(i, j) * B(0, j); });
  Expect([](const Elementwise& ops, const Placed& a, const Placed& b,
            const Placed& to) { ops.ColumnProducts(a.view(), b.view(), to.data()); },
         [&](int64_t i, int64_t j) {
           double sum = i == 0 ? 0 : To(i, j);
           for (int64_t row = 0; i == 0 && row < kElementRows; ++row) {
             sum += A(row, j) * B(row, j);
           }
           return sum;
         });
}

TEST_F(ElementwiseTest, Blocks) {
  Expect([](const Elementwise& ops, const Placed& a, const Placed&,
            const Placed& to) { ops.Repeat(a.view().Rows(0, 9), 3, to.view().Rows(0, 27)); },
         [&](int64_t i, int64_t j) { return i < 27 ? A(i % 9, j) : To(i, j); });
  Expect([](const Elementwise& ops, const Placed& a, const Placed&,
            const Placed& to) { ops.MeanOfBlocks(a.view().Rows(0, 36), 4, to.view().Rows(0, 9)); },
         [&](int64_t i, int64_t j) {
           return i < 9 ? (A(i, j) + A(9 + i, j) + A(18 + i, j) + A(27 + i, j)) / 4 : To(i, j);
         });
}

TEST_F(ElementwiseTest, MixedRows) {
  Expect([](const Elementwise& ops, const Placed&, const Placed&, const Placed& to) { ops.MixRows(0.75, to.view()); },
         [&](int64_t i, int64_t j) { return 0.75 * To(i, j) + 0.25 * To((i + 1) % kElementRows, j); });
}

TEST_F(ElementwiseTest, ZerosAreKept) {
  for (int64_t i = 0; i < kElementRows; ++i) {
    a_.Row<double>(i)[i] = 0;
  }
  Expect([](const Elementwise& ops, const Placed& a, const Placed&,
            const Placed& to) { ops.KeepZeros(a.view(), to.view()); },
         [&](int64_t i, int64_t j) { return i == j ? 0.0 : To(i, j); });
}

TEST_F(ElementwiseTest, SlopesOfEveryActivation) {
  for (const std::string& name : ActivationNames()) {
    const Activation activation(name);
    if (activation.is_softmax()) {
      continue;
    }
    SCOPED_TRACE(name);
    Matrix slope(kElementRows, kElementCols, DType::kF64);
    for (int64_t i = 0; i < kElementRows; ++i) {
      activation.Value(a_.Row<double>(i), b_.Row<double>(i), kElementCols);
      std::fill_n(slope.Row<double>(i), kElementCols, 1.0);
      activation.MultiplySlope(a_.Row<double>(i), b_.Row<double>(i), slope.Row<double>(i), kElementCols);
    }
    Expect([&](const Elementwise& ops, const Placed& a, const Placed& b,
               const Placed& to) { ops.MultiplySlope(activation, a.view(), b.view(), to.view()); },
           [&](int64_t i, int64_t j) { return To(i, j) * slope.Row<double>(i)[j]; });
  }
}

// The sequence of one generator, however many threads draw it.
TEST(ElementwiseDropout, MasksAreTheSameEverywhere) {
  for (const int64_t count : {1, 2, 127, 128, 129, 70 * 37, 128 * 300 + 5}) {
    std::vector<double> expected;
    Random random(9, 1234567);
    for (int64_t n = 0; n < count; n += 2) {
      const uint64_t bits = random.Next();
      for (const uint64_t half : {bits & 0xFFFFFFFFU, bits >> 32}) {
        expected.push_back(static_cast<double>(half) < 0.3 * 0x1p32 ? 0 : 1 / 0.7);
      }
    }
    expected.resize(static_cast<size_t>(count));
    const Matrix empty(1, count, DType::kF64);
    for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
      SCOPED_TRACE(backend->name());
      const Placed mask(*backend, empty);
      backend->elementwise().PrepareDropout();
      backend->elementwise().DropoutMask(0.3, 9, 1234567, mask.view());
      const std::vector<double> got = mask.Numbers();
      for (size_t n = 0; n < got.size(); ++n) {
        ASSERT_DOUBLE_EQ(got[n], expected[n]) << n << " of " << count;
      }
    }
  }
}

}  // namespace
}  // namespace lamina
