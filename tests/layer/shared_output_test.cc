// A file that ranks write together: their rows, and a part of its own for each job.
#include "lamina/layer/shared_output.h"

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/cluster/thread_ranks.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

constexpr int64_t kTogetherRows = 6;
constexpr int64_t kTogetherColumns = 3;

// Row i is i, i, i.
void WriteTogether(const std::string& path, int ranks) {
  RunRanks(ranks, [&](Communicator& rank) {
    const int64_t rows = kTogetherRows / ranks;
    const int64_t begin = rank.rank() * rows;
    SharedOutput output(path, kTogetherRows, begin, rows, kTogetherColumns, DType::kF32, rank);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < kTogetherColumns; ++j) {
        output.view().Row<float>(i)[j] = static_cast<float>(begin + i);
      }
    }
    output.Write(0, rows, 0, kTogetherColumns);
    output.Commit();
  });
}

TEST(SharedOutput, HasTheRowsOfAllRanks) {
  const TemporaryFolder folder;
  for (const int ranks : {1, 2, 3}) {
    const std::string path = folder.Path("h.npy");
    WriteTogether(path, ranks);
    const std::string content = ReadFile(path);
    const auto* numbers =
        reinterpret_cast<const float*>(content.data() + content.size()) - kTogetherRows * kTogetherColumns;
    for (int64_t i = 0; i < kTogetherRows; ++i) {
      for (int64_t j = 0; j < kTogetherColumns; ++j) {
        EXPECT_EQ(numbers[i * kTogetherColumns + j], static_cast<float>(i)) << ranks;
      }
    }
    EXPECT_EQ(folder.Count(), 1) << "nor a part, nor a lock";
  }
}

TEST(SharedOutput, JobsShareNoPart) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("h.npy");
  const std::string others = folder.Write("h.npy.ranks.part", "of a person");
  RunRanks(1, [&](Communicator& rank) {
    const SharedOutput unfinished(path, kTogetherRows, 0, kTogetherRows, kTogetherColumns, DType::kF32, rank);
    WriteTogether(path, 2);
    EXPECT_EQ(folder.Count(), 3) << "the output, what the other job writes, the person's file";
  });
  EXPECT_EQ(folder.Count(), 2);
  EXPECT_EQ(ReadFile(others), "of a person");
}

}  // namespace
}  // namespace lamina
