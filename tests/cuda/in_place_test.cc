// Operands in the memory of the GPU are computed where they are: the same bits as from copies of the host's.
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "lamina/base/convert.h"
#include "lamina/layer/layer.h"
#include "lamina/layer/neighbours.h"
#include "tests/caught_error.h"
#include "tests/conformance/configurations.h"

namespace lamina {
namespace {

// A matrix of the device with rows `gap` elements apart, the first `offset` elements behind the start of its memory.
class OnGpu {
 public:
  OnGpu(const Backend& backend, ConstMatrixView host, int64_t offset, int64_t gap)
      : backend_(backend),
        size_bytes_((offset + host.rows * (host.cols + gap)) * DTypeSize_bytes(host.dtype)),
        memory_(backend.Allocate(size_bytes_)),
        host_(host.rows * (host.cols + gap) + offset, 1, host.dtype),
        view_{nullptr, host.rows, host.cols, host.cols + gap, host.dtype, Space::kDevice} {
    const int64_t element = DTypeSize_bytes(host.dtype);
    view_.data = static_cast<std::byte*>(memory_->data()) + offset * element;
    std::memset(host_.data(), 0x7b, static_cast<size_t>(size_bytes_));
    for (int64_t i = 0; i < host.rows; ++i) {
      std::memcpy(static_cast<std::byte*>(host_.data()) + (offset + i * view_.stride) * element, host.Rows(i, 1).data,
                  static_cast<size_t>(host.cols * element));
    }
    backend_.Upload(memory_->data(), host_.data(), size_bytes_);
    offset_ = offset;
  }

  MatrixView view() const { return view_; }

  // The rows; what lies between them must be as it was.
  Matrix Read() {
    const int64_t element = DTypeSize_bytes(view_.dtype);
    Matrix before(host_.rows(), 1, view_.dtype);
    std::memcpy(before.data(), host_.data(), static_cast<size_t>(size_bytes_));
    if (conformance::CudaUnderTest() == conformance::kEmulatedCuda) {  // others do not wait for our work
      std::memcpy(host_.data(), memory_->data(), static_cast<size_t>(size_bytes_));
    } else {
      backend_.Download(host_.data(), memory_->data(), size_bytes_);
    }
    Matrix rows(view_.rows, view_.cols, view_.dtype);
    for (int64_t i = 0; i < view_.rows; ++i) {
      const int64_t at = (offset_ + i * view_.stride) * element;
      std::memcpy(rows.view().Rows(i, 1).data, static_cast<std::byte*>(host_.data()) + at,
                  static_cast<size_t>(view_.cols * element));
      std::memcpy(static_cast<std::byte*>(before.data()) + at, static_cast<std::byte*>(host_.data()) + at,
                  static_cast<size_t>(view_.cols * element));
    }
    EXPECT_EQ(std::memcmp(before.data(), host_.data(), static_cast<size_t>(size_bytes_)), 0) << "between the rows";
    return rows;
  }

 private:
  const Backend& backend_;
  int64_t size_bytes_;
  int64_t offset_ = 0;
  std::unique_ptr<Buffer> memory_;
  Matrix host_;
  MatrixView view_;
};

std::unique_ptr<Backend> Cuda() { return conformance::Chosen::Make({std::string(conformance::CudaUnderTest())}); }

// Numbers of any type, from 0 to 9; integers take the whole part.
Matrix NumbersOf(DType dtype, int64_t rows, int64_t cols, uint64_t seed) {
  const Matrix numbers = RandomMatrix(rows, cols, DType::kF32, seed, 0, 9);
  Matrix converted(rows, cols, dtype);
  ConvertMatrix(numbers.view(), converted.view());
  return converted;
}

std::string BytesOf(const Matrix& matrix) {
  return {static_cast<const char*>(matrix.data()),
          static_cast<size_t>(matrix.rows() * matrix.cols() * DTypeSize_bytes(matrix.dtype()))};
}

TEST(Cuda, ALayerOfWhatIsInItsMemoryHasTheBitsOfCopies) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kU8}) {
    const Matrix x = NumbersOf(dtype, 70, 33, 1);
    const Matrix w = NumbersOf(dtype, 21, 33, 2);
    const LayerPlanRequest request{{33, 21, Synapse::kL1, Activation(), /*bias=*/false}, dtype, 70};
    const DType result = OutputType(dtype);
    for (const unsigned late : {0U, 7U}) {  // work that nobody waited for would be missing
      cuda_emulated::SetLateQueues(late);
      const std::unique_ptr<Backend> backend = Cuda();
      cuda_emulated::SetLateQueues(0);
      Layer layer(request, *backend);
      Matrix expected(70, 21, result);
      layer.Forward(x.view(), w.view(), nullptr, expected.view());
      for (const auto& [offset, gap] : {std::pair<int64_t, int64_t>{0, 0}, {0, 3}, {1, 0}, {16, 31}}) {
        SCOPED_TRACE(std::string(DTypeName(dtype)) + ", offset " + std::to_string(offset) + ", gap " +
                     std::to_string(gap));
        const OnGpu x_there(*backend, x.view(), offset, gap);
        const OnGpu w_there(*backend, w.view(), offset, gap);
        OnGpu out_there(*backend, Matrix(70, 21, result).view(), offset, gap);
        layer.Forward(x_there.view(), w_there.view(), nullptr, out_there.view());
        EXPECT_TRUE(BytesOf(out_there.Read()) == BytesOf(expected));
        Matrix here(70, 21, result);  // each operand for itself
        layer.Forward(x_there.view(), w.view(), nullptr, here.view());
        EXPECT_TRUE(BytesOf(here) == BytesOf(expected));
        OnGpu mixed(*backend, Matrix(70, 21, result).view(), offset, gap);
        layer.Forward(x.view(), w_there.view(), nullptr, mixed.view());
        EXPECT_TRUE(BytesOf(mixed.Read()) == BytesOf(expected));
      }
    }
  }
}

TEST(Cuda, NeighboursOfWhatIsInItsMemoryAreThoseOfCopies) {
  const std::unique_ptr<Backend> backend = Cuda();
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kU8, DType::kI32, DType::kI64}) {
    const Matrix x = NumbersOf(dtype, 50, 9, 3);
    const Matrix y = NumbersOf(dtype, 700, 9, 4);
    const NeighbourOptions options{Synapse::kL1, 5};
    const auto nearest = [&](ConstMatrixView x_rows, ConstMatrixView y_rows) {
      MatrixRows x_source(x_rows);
      MatrixRows y_source(y_rows);
      std::array<Matrix, 2> found{Matrix(50, 5, DType::kI64), Matrix(50, 5, DistanceType(dtype, options.metric))};
      NearestRows(x_source, y_source, options, *backend, {found[0].view(), found[1].view(), {}});
      return BytesOf(found[0]) + BytesOf(found[1]);
    };
    const std::string expected = nearest(x.view(), y.view());
    for (const auto& [offset, gap] : {std::pair<int64_t, int64_t>{0, 0}, {1, 2}, {0, 7}}) {
      const OnGpu x_there(*backend, x.view(), offset, gap);
      const OnGpu y_there(*backend, y.view(), offset, gap);
      SCOPED_TRACE(std::string(DTypeName(dtype)) + ", offset " + std::to_string(offset));
      if (dtype == DType::kI64) {  // who cannot look at the numbers must take the largest of the type
        EXPECT_EQ(CaughtError([&] { nearest(x_there.view(), y_there.view()); }).code(), ErrorCode::kUnsupported);
        continue;
      }
      EXPECT_TRUE(nearest(x_there.view(), y_there.view()) == expected);
      EXPECT_TRUE(nearest(x.view(), y_there.view()) == expected);
    }
  }
}

TEST(Cuda, ABackendInHostMemoryRefusesWhatIsOnAGpu) {
  const std::unique_ptr<Backend> cpu = MakeBackend("cpu");
  const Matrix x = RandomMatrix(3, 2, DType::kF32, 1);
  ConstMatrixView there = x.view();
  there.space = Space::kDevice;
  Layer layer({2, 3, Synapse::kL1, Activation(), /*bias=*/false}, *cpu, 3);
  Matrix out(3, 3, DType::kF32);
  const Error error = CaughtError([&] { layer.Forward(there, x.view(), nullptr, out.view()); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(std::string(error.what()).find("cpu"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace lamina
