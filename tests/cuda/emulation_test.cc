// The emulation of a GPU refuses what a GPU would: vectors that are not aligned, counts before the writes they count,
// launches beyond the limits.
#include "gtest/gtest.h"
#include "tests/cuda/emulated_backend.h"
#include "tests/cuda/emulated_planted.h"

namespace lamina::cuda_emulated {
namespace {

class CudaEmulation : public testing::Test {
 protected:
  void SetUp() override {
    if (!Compiled()) {
      GTEST_SKIP() << "no emulated GPU in this build";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};
using CudaEmulationDeathTest = CudaEmulation;

TEST_F(CudaEmulationDeathTest, SeesVectorsThatAreNotAligned) {
  EXPECT_DEATH(RunPlanted(Planted::kMisalignedStore), "misaligned vector of 16 bytes");
  EXPECT_DEATH(RunPlanted(Planted::kMisalignedLoad), "misaligned vector of 16 bytes");
  EXPECT_DEATH(RunPlanted(Planted::kMisalignedKeep), "misaligned vector of 8 bytes");
}

TEST_F(CudaEmulationDeathTest, SeesCountsWithoutAFenceBehindTheBarrier) {
  EXPECT_DEATH(RunPlanted(Planted::kCountWithoutFence), "without a fence since the last barrier");
  EXPECT_DEATH(RunPlanted(Planted::kFenceBeforeBarrier), "without a fence since the last barrier");
}

TEST_F(CudaEmulationDeathTest, SeesMistakesWithBarriersOfSharedMemory) {
  EXPECT_DEATH(RunPlanted(Planted::kTooManyRegisters), "kernel take: threads that wait for each other for ever");
  EXPECT_DEATH(RunPlanted(Planted::kMisplacedPart), "a part of a matrix that may not stand there");
  EXPECT_DEATH(RunPlanted(Planted::kNoBarrier), "a barrier that nobody has begun");
  EXPECT_DEATH(RunPlanted(Planted::kMoreArrivals), "more arrivals than a barrier has");
}

TEST_F(CudaEmulationDeathTest, SeesMistakesOfCopiesProductsAndMeetings) {
  EXPECT_DEATH(RunPlanted(PlantedEnd::kMisalignedCopy), "a misaligned asynchronous copy");
  EXPECT_DEATH(RunPlanted(PlantedEnd::kProductOutside), "a product of what is outside of shared memory");
  EXPECT_DEATH(RunPlanted(PlantedEnd::kProductTooEarly), "adds to sums before it may");
  EXPECT_DEATH(RunPlanted(PlantedEnd::kHalfABarrier), "a barrier that only some threads of a block reach");
  EXPECT_DEATH(RunPlanted(PlantedEnd::kHalfAMeeting), "kernel meet: threads that wait for each other for ever");
}

// What a GPU would do at random comes out wrong here every time.
TEST_F(CudaEmulation, NumbersThatAreNotThereYetAreWrong) {
  for (const PlantedNumbers mistake :
       {PlantedNumbers::kUnwritten, PlantedNumbers::kCopyNotWaitedFor, PlantedNumbers::kNoBarrier,
        PlantedNumbers::kProductNotWaitedFor, PlantedNumbers::kNotPublished}) {
    EXPECT_EQ(NumberOf(mistake, /*planted=*/false), 1);
    EXPECT_NE(NumberOf(mistake, /*planted=*/true), 1) << static_cast<int>(mistake);
  }
}

TEST_F(CudaEmulation, RefusesLaunchesBeyondTheLimits) {
  EXPECT_EQ(ErrorOfLaunch(256, 1, 227 * 1024), "");
  EXPECT_NE(ErrorOfLaunch(256, 1, 227 * 1024 + 16).find("kernel none failed"), std::string::npos);
  EXPECT_NE(ErrorOfLaunch(1025, 1, 0).find("1025 threads"), std::string::npos);
  EXPECT_NE(ErrorOfLaunch(32, 65536, 0).find("65536 blocks"), std::string::npos);
  EXPECT_EQ(ErrorOfLaunch(32, 1, 99 * 1024, 3), "");
  EXPECT_NE(ErrorOfLaunch(32, 1, 99 * 1024 + 16, 3).find("shared memory"), std::string::npos);
  EXPECT_NE(ErrorOfLaunch(32, 1, 0, 4).find("4 x 1 blocks"), std::string::npos);
  SetEmulatedCompute(8);
  EXPECT_NE(ErrorOfLaunch(256, 1, 100 * 1024).find("kernel none failed"), std::string::npos);
  SetEmulatedCompute(kEmulatedCompute);
}

TEST_F(CudaEmulation, PanelsOfTheLibrarysProductAreEven) {
  constexpr int64_t k512Rows = 512 * 8 * sizeof(float);
  EXPECT_EQ(PanelRowsOf("dot-tanh:f32:forward:520x8x16", k512Rows), 384) << "not 512, and 8 in the last one";
  EXPECT_EQ(PanelRowsOf("dot-tanh:f32:forward:512x8x16", k512Rows), 512);
  EXPECT_EQ(PanelRowsOf("dot-tanh:f32:forward:1030x8x16", k512Rows), 384) << "not 512, 512 and 6";
  EXPECT_EQ(PanelRowsOf("dot-tanh:f32:forward:100x8x16", k512Rows), 100);
  EXPECT_EQ(PanelRowsOf("dot-tanh:f32:forward:1030x8x16", 0), 1030) << "in one go";
  EXPECT_EQ(PanelRowsOf("dot-tanh:f32:forward:100000x1024x16", 0), 50048) << "in two of at most 256 MiB";
}

}  // namespace
}  // namespace lamina::cuda_emulated
