// Matrices of model files with and without their zeros, and damaged ones.
#include "lamina/model/matrix_file.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "lamina/model/model.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using Tensors = std::map<std::string, TensorView>;

std::string BytesOf(ConstMatrixView matrix) {
  return {static_cast<const char*>(matrix.data),
          static_cast<size_t>(matrix.rows * matrix.cols * DTypeSize_bytes(matrix.dtype))};
}

// Every n-th element has bits that are not all 0, in a place that differs from row to row.
Matrix WithFew(int64_t rows, int64_t cols, DType dtype, int64_t n) {
  Matrix matrix(rows, cols, dtype);
  auto* const bytes = static_cast<uint8_t*>(matrix.data());
  const int64_t size_bytes = DTypeSize_bytes(dtype);
  Random random(5);
  for (int64_t i = 0; i < rows * cols; ++i) {
    for (int64_t b = 0; b < size_bytes; ++b) {
      bytes[i * size_bytes + b] = i % n == 0 ? static_cast<uint8_t>(1 + random.Below(255)) : uint8_t{0};
    }
  }
  return matrix;
}

SafetensorsFile FileOf(const TemporaryFolder& folder, const Tensors& tensors) {
  WriteSafetensors(folder.Path("m"), {}, tensors);
  return SafetensorsFile::Read(folder.Path("m"));
}

TEST(MatrixFile, RoundTripsKeepEveryBit) {
  constexpr int64_t kRows = 300;
  const TemporaryFolder folder;
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kI8}) {
    for (const int64_t cols : {1, 7, 8, 9, 64, 131}) {
      for (const int64_t n : {1, 2, 20, 10'000}) {
        const Matrix matrix = WithFew(kRows, cols, dtype, n);
        std::deque<MatrixWithoutZeros> made;
        Tensors tensors;
        AddMatrix("w", matrix.view(), made, tensors);
        EXPECT_EQ(tensors.contains("w"), made.empty());
        int64_t file_bytes = 0;
        for (const auto& [name, tensor] : tensors) {
          file_bytes += std::ssize(tensor.bytes);
        }
        const int64_t whole_bytes = std::ssize(BytesOf(matrix.view()));
        const int64_t values = (kRows * cols + n - 1) / n;
        const int64_t rest_bytes = kRows * ((cols + 7) / 8) + values * DTypeSize_bytes(dtype);
        const bool less = 2 * rest_bytes <= whole_bytes && rest_bytes + 4096 <= whole_bytes;
        EXPECT_EQ(!made.empty(), less) << n << ", " << cols;
        EXPECT_EQ(file_bytes, less ? rest_bytes : whole_bytes) << n << ", " << cols;
        const SafetensorsFile file = FileOf(folder, tensors);
        RequireMatrix(file, "w", dtype, kRows, cols);
        Matrix again = WithFew(kRows, cols, dtype, 1);
        ReadMatrix(file, "w", again.view());
        EXPECT_EQ(BytesOf(again.view()), BytesOf(matrix.view())) << DTypeName(dtype) << ", " << cols << ", " << n;
      }
    }
  }
}

// The elements of a matrix whose bits are not all 0.
SparseMatrix ListOf(const Matrix& matrix) {
  SparseMatrix list;
  list.cols = matrix.cols();
  DispatchFloat(matrix.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      for (int64_t j = 0; j < matrix.cols(); ++j) {
        list.Add(j, static_cast<double>(matrix.Row<T>(i)[j]));
      }
      list.EndRow();
    }
  });
  return list;
}

TEST(MatrixFile, ListsAreTheSameTensors) {
  const TemporaryFolder folder;
  int64_t listed = 0;
  for (const DType dtype : {DType::kF64, DType::kF32}) {
    for (const int64_t cols : {7, 64, 131, 1000}) {
      for (const int64_t n : {1, 2, 3, 20, 10'000}) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", DTypeName(dtype), cols, n));
        Matrix matrix(100, cols, dtype);
        DispatchFloat(dtype, [&]<class T>(T) {
          for (int64_t i = 0; i < 100 * cols; i += n) {
            matrix.Row<T>(0)[i] = i % 3 == 0 ? -T(0) : T(1) / static_cast<T>(i);
          }
        });
        const SparseMatrix list = ListOf(matrix);
        std::deque<MatrixWithoutZeros> made;
        Tensors tensors;
        AddMatrix("w", matrix.view(), made, tensors);
        Tensors of_list;
        ASSERT_EQ(AddList("w", list, dtype, made, of_list), !tensors.contains("w"));
        const auto again = ReadList(FileOf(folder, tensors), "w", dtype, 100, cols);
        ASSERT_FALSE(again != nullptr && tensors.contains("w"));
        if (again != nullptr) {
          ++listed;
          EXPECT_EQ(of_list["w.places"].bytes, tensors["w.places"].bytes);
          EXPECT_EQ(of_list["w.values"].bytes, tensors["w.values"].bytes);
          EXPECT_EQ(again->cols, cols);
          EXPECT_EQ(again->begin, list.begin);
          ASSERT_EQ(again->elements.size(), list.elements.size());
          for (size_t i = 0; i < list.elements.size(); ++i) {
            EXPECT_EQ(again->elements[i].column, list.elements[i].column);
            EXPECT_EQ(std::bit_cast<uint64_t>(again->elements[i].value),
                      std::bit_cast<uint64_t>(list.elements[i].value));
          }
        }
      }
    }
  }
  EXPECT_GE(listed, 10);
}

TEST(MatrixFile, OnlyBitsThatAreAll0AreZeros) {
  Matrix matrix(2, 2000, DType::kF32);
  matrix.Row<float>(0)[3] = -0.0F;
  matrix.Row<float>(1)[1999] = std::numeric_limits<float>::denorm_min();
  std::deque<MatrixWithoutZeros> made;
  Tensors tensors;
  AddMatrix("w", matrix.view(), made, tensors);
  ASSERT_TRUE(tensors.contains("w.values"));
  EXPECT_EQ(tensors["w.values"].shape, std::vector<int64_t>{2});
  EXPECT_EQ(tensors["w.places"].shape, (std::vector<int64_t>{2, 250}));
  EXPECT_EQ(tensors["w.places"].bytes, "\x08" + std::string(498, '\0') + "\x80");
}

TEST(MatrixFile, DamagedOnesAreRefused) {
  const TemporaryFolder folder;
  const Matrix matrix = WithFew(400, 11, DType::kF64, 5);
  std::deque<MatrixWithoutZeros> made;
  Tensors tensors;
  AddMatrix("w", matrix.view(), made, tensors);
  const auto refused = [&](const Tensors& wrong, DType dtype = DType::kF64, int64_t rows = 400, int64_t cols = 11) {
    const SafetensorsFile file = FileOf(folder, wrong);
    const Error error = CaughtError([&] { RequireMatrix(file, "w", dtype, rows, cols); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    return std::string(error.what());
  };
  EXPECT_TRUE(Mentions(refused(tensors, DType::kF32), "w.values"));
  EXPECT_TRUE(Mentions(refused(tensors, DType::kF64, 500), "w.places"));
  EXPECT_TRUE(Mentions(refused(tensors, DType::kF64, 400, 17), "w.places"));
  EXPECT_TRUE(Mentions(refused(tensors, DType::kF64, 400, std::numeric_limits<int64_t>::max()), "w.places"));
  EXPECT_TRUE(Mentions(refused(tensors, DType::kF64, -400), "w.places"));
  Tensors wrong = tensors;
  wrong["w.places"].shape = {800, 1};  // as rows of -1 columns would have
  EXPECT_TRUE(Mentions(refused(wrong, DType::kF64, 800, -1), "tensor w is missing"));
  wrong = tensors;
  wrong.erase("w.values");
  EXPECT_TRUE(Mentions(refused(wrong), "tensor w.values is missing"));
  wrong = tensors;
  wrong.erase("w.places");
  EXPECT_TRUE(Mentions(refused(wrong), "tensor w is missing"));
  std::string places(tensors["w.places"].bytes);
  for (const uint8_t more : {0x08, 0x80}) {  // a place behind the eleventh
    std::string behind = places;
    behind[1] = static_cast<char>(behind[1] | more);
    wrong = tensors;
    wrong["w.places"].bytes = behind;
    EXPECT_TRUE(Mentions(refused(wrong), "behind the end of a row"));
  }
  places[0] ^= 0x02;  // one place more
  wrong = tensors;
  wrong["w.places"].bytes = places;
  EXPECT_TRUE(Mentions(refused(wrong), "w.values"));
}

TEST(MatrixFile, ModelsLeaveZerosOut) {
  const TemporaryFolder folder;
  const Table table = RandomTable(20, 2000, 2, 1);
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Model model = SmallModel(table, dtype, "tanh");
    SaveModel(folder.Path("dense"), model);
    DispatchFloat(dtype, [&]<class T>(T) {
      const MatrixView weights = model.network.Weights(0);
      for (int64_t i = 0; i < weights.rows; ++i) {
        for (int64_t j = 0; j < weights.cols; ++j) {
          T& weight = weights.Row<T>(i)[j];
          weight = (i + j) % 19 == 0 ? weight : T(0);
        }
      }
    });
    for (const WeightStorage storage : {WeightStorage::kExact, WeightStorage::kBF16, WeightStorage::kI8}) {
      const Model kept = WithWeights(model, storage);
      SaveModel(folder.Path("m"), kept);
      const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
      const std::string description = file.metadata().at("lamina");
      EXPECT_TRUE(file.tensors().contains("layer.1.weight.places")) << WeightStorageName(storage);
      EXPECT_TRUE(Mentions(description, fmt::format("\"format_version\":{}", kModelFormatVersion)));
      EXPECT_EQ(ParameterBytes(LoadModel(folder.Path("m")).network), ParameterBytes(kept.network));
    }
    EXPECT_FALSE(SafetensorsFile::Read(folder.Path("dense")).tensors().contains("layer.1.weight.places"));
    EXPECT_TRUE(Mentions(SafetensorsFile::Read(folder.Path("dense")).metadata().at("lamina"), "\"format_version\":1,"));
  }
}

}  // namespace
}  // namespace lamina
