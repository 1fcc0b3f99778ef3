// Matrices that wait as lists, against the same written at once.
#include "lamina/nn/parameter_array.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr int64_t kListRows = 40;
constexpr int64_t kListColumns = 300;
constexpr int64_t kListAt = 32;  // of the matrix; bias stands before and behind it
constexpr int64_t kBehindList = kListAt + kListRows * kListColumns;
constexpr int64_t kArraySize = kBehindList + 16;

std::shared_ptr<const SparseMatrix> SomeList(uint64_t seed) {
  Random random(seed);
  auto list = std::make_shared<SparseMatrix>();
  list->cols = kListColumns;
  for (int64_t i = 0; i < kListRows; ++i) {
    for (int64_t j = static_cast<int64_t>(random.Below(50)); j < kListColumns;
         j += 1 + static_cast<int64_t>(random.Below(90))) {
      list->Add(j, static_cast<double>(static_cast<float>(random.Normal())));
    }
    list->EndRow();
  }
  return list;
}

template <class T>
struct Both {
  ParameterArray waiting{kArraySize, DTypeOf<T>()};
  std::vector<T> dense = std::vector<T>(static_cast<size_t>(kArraySize));
};

template <class T>
Both<T> WithList() {
  Both<T> both;
  const auto list = SomeList(1);
  for (int64_t i = 0; i < kListRows; ++i) {
    for (const auto& [column, value] : list->Row(i)) {
      both.dense[static_cast<size_t>(kListAt + i * kListColumns + column)] = static_cast<T>(value);
    }
  }
  both.waiting.Keep(kListAt, list);
  for (const int64_t place : {int64_t{3}, kBehindList}) {
    *static_cast<T*>(both.waiting.At(place)) = T(7);
    both.dense[static_cast<size_t>(place)] = T(7);
  }
  return both;
}

template <class T>
void ExpectSame(const ParameterArray& array, const std::vector<T>& dense) {
  EXPECT_TRUE(std::equal(dense.begin(), dense.end(), static_cast<const T*>(array.data())));
  EXPECT_EQ(array.ListAt(kListAt), nullptr);
}

template <class T>
class ParameterArrayTest : public testing::Test {};
using ArrayTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ParameterArrayTest, ArrayTypes);

TYPED_TEST(ParameterArrayTest, ListsWaitUntilTheyAreAskedFor) {
  const Both<TypeParam> both = WithList<TypeParam>();
  both.waiting.At(0);
  both.waiting.At(kBehindList);
  ASSERT_NE(both.waiting.ListAt(kListAt), nullptr);
  EXPECT_EQ(both.waiting.ListAt(0), nullptr);
  const auto* const at = static_cast<const TypeParam*>(both.waiting.At(kListAt));
  EXPECT_TRUE(std::equal(at, at + kListRows * kListColumns, both.dense.data() + kListAt));
  ExpectSame(both.waiting, both.dense);
}

TYPED_TEST(ParameterArrayTest, CopiesHaveMemoryOfTheirOwn) {
  Both<TypeParam> both = WithList<TypeParam>();
  const ParameterArray copy = both.waiting;
  ParameterArray assigned;
  assigned = both.waiting;
  EXPECT_EQ(copy.ListAt(kListAt), both.waiting.ListAt(kListAt));
  *static_cast<TypeParam*>(both.waiting.At(kListAt)) = TypeParam(9);
  *static_cast<TypeParam*>(both.waiting.At(kBehindList)) = TypeParam(9);
  ExpectSame(copy, both.dense);
  ExpectSame(ParameterArray(copy), both.dense);
  const ParameterArray moved = std::move(assigned);
  ExpectSame(moved, both.dense);
  both.dense[kListAt] = both.dense[kBehindList] = TypeParam(9);
  ExpectSame(both.waiting, both.dense);
}

TYPED_TEST(ParameterArrayTest, ManyThreadsReadOne) {
  for (int time = 0; time < 20; ++time) {
    const Both<TypeParam> both = WithList<TypeParam>();
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const auto list = both.waiting.ListAt(kListAt);
        const ParameterArray copy = both.waiting;
        const auto* const all = static_cast<const TypeParam*>(i % 2 == 0 ? copy.data() : both.waiting.data());
        EXPECT_TRUE(std::equal(both.dense.begin(), both.dense.end(), all));
        EXPECT_TRUE(list == nullptr || list->rows() == kListRows);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
}

}  // namespace
}  // namespace lamina
