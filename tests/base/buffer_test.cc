// Owned memory: aligned, zero, and a copy is another one.
#include "lamina/base/buffer.h"

#include <algorithm>
#include <type_traits>

#include "gtest/gtest.h"

namespace lamina {
namespace {

static_assert(!std::is_copy_constructible_v<Matrix>, "copying a data set is a mistake");

// 2 MiB are mapped, not taken from the heap.
class BufferTest : public testing::TestWithParam<int64_t> {};

TEST_P(BufferTest, ACopyHasTheBytesAndMemoryOfItsOwn) {
  AlignedBuffer original(GetParam());
  const auto bytes = original.As<unsigned char>();
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; }));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(i % 251);
  }
  AlignedBuffer copy(original);
  AlignedBuffer assigned(3);
  assigned = copy;
  for (const AlignedBuffer* each : {&copy, &assigned}) {
    ASSERT_EQ(each->size_bytes(), GetParam());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(each->data()) % 64, 0U);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), each->As<unsigned char>().begin()));
  }
  std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(255));
  if (GetParam() > 0) {
    EXPECT_NE(copy.As<unsigned char>().back(), 255);
    EXPECT_NE(assigned.data(), copy.data());
  }
  const AlignedBuffer& same = assigned;
  assigned = same;
  EXPECT_EQ(assigned.size_bytes(), GetParam());
  EXPECT_TRUE(std::equal(copy.As<char>().begin(), copy.As<char>().end(), assigned.As<char>().begin()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, BufferTest, testing::Values(0, 1, 64, 1000, 2 << 20));

}  // namespace
}  // namespace lamina
