// What encoded rows take in memory is said where it is much, and refused where this machine has less.
#include <gtest/gtest.h>

#include "lamina/base/error.h"
#include "lamina/run/train_data.h"
#include "tests/caught_error.h"
#include "tests/data/encode/preprocessor_test_util.h"

namespace lamina {
namespace {

TEST(EncodedSize, IsOfEveryInputAndOutput) {
  const Table table = Csv("x,c,y\n1,a,p\n2,b,q\n3,c,r\n4,a,s\n");
  PreprocessOptions options;
  options.task = Task::kClassification;
  const Preprocessor fitted = FitAll(table, options);
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Dataset data = BoundTable(fitted, table).Encode(AllRows(table), dtype);
    const EncodedSize size = SizeOf(fitted, table.rows, dtype);
    EXPECT_EQ(size.input_bytes, data.features.rows() * data.features.cols() * DTypeSize_bytes(dtype));
    EXPECT_EQ(size.target_bytes, data.targets.rows() * data.targets.cols() * DTypeSize_bytes(dtype));
  }
  EXPECT_GT(SizeOf(fitted, INT64_MAX, DType::kF64).bytes(), 0) << "too large to count is not negative";
}

TEST(EncodedSize, IsSaidAndRefused) {
  const Table table = Csv("x,y\n1,p\n2,q\n3,r\n4,p\n");
  PreprocessOptions options;
  options.task = Task::kClassification;
  const Preprocessor fitted = FitAll(table, options);
  EXPECT_EQ(MemoryNote({.rows = 4, .input_bytes = 16, .target_bytes = 48}, fitted), "");
  EXPECT_EQ(MemoryNote({.rows = 1000, .input_bytes = 16, .target_bytes = int64_t{3} << 30}, fitted),
            "1,000 encoded rows take 3 GiB of memory, most of it for the 3 classes of 'y'");
  const int64_t too_much_bytes = int64_t{1} << 58;
  RequireMemoryFor({.rows = 4, .input_bytes = 16, .target_bytes = 48}, fitted, "t.csv");
  for (const bool inputs : {false, true}) {
    const Error error = CaughtError([&] {
      RequireMemoryFor({1000, inputs ? too_much_bytes : 16, inputs ? 16 : too_much_bytes}, fitted, "t.csv");
    });
    EXPECT_EQ(error.code(), ErrorCode::kResource);
    for (const char* part :
         {"t.csv", "1,000 encoded rows", "262144 TiB", inputs ? "the 1 input," : "the 3 classes of 'y'",
          inputs ? "--drop" : "--class-map", "--samples"}) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace lamina
