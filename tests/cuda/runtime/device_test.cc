// Device and its copies on a stand-in for the CUDA runtime. Tested are whose GPU a thread has, what a driver is asked
// before work, and the words where there is none.
#include "lamina/backend/cuda/device.h"

#include <cuda.h>

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/copy_streams.h"
#include "lamina/backend/cuda/recordings.h"
#include "lamina/backend/cuda/tensor_map.h"
#include "tests/cuda/runtime/stand_in.h"

namespace lamina::cuda {
namespace {

namespace stand_in = runtime_stand_in;

void NoKernel(int) {}

// Everything that a Device does, while the thread has another GPU.
void UseAll(Device& device, int other) {
  const auto with_other = [&](const auto& work) {
    stand_in::ChooseGpu(other);
    work();
  };
  std::vector<char> host(64);
  void* memory = nullptr;
  void* second = nullptr;
  with_other([&] { memory = device.Allocate(64); });
  with_other([&] { second = device.Allocate(64); });
  with_other([&] { device.Upload(memory, host.data(), 64); });
  with_other([&] { device.Copy(second, memory, 64); });
  with_other([&] { device.Download(host.data(), second, 64); });
  with_other([&] { device.Launch("none", &NoKernel, dim3{1, 1, 1}, 32, 0, 1); });
  with_other([&] { device.LaunchTogether("none", &NoKernel, dim3{1, 1, 1}, 32, 100 * 1024, 1); });
  with_other([&] { device.LaunchAs("none", &NoKernel, {.grid = {2, 1, 1}, .threads = 32, .cluster = 2}, 1); });
  EXPECT_EQ(stand_in::LastCluster(), 2);
  with_other([&] { device.AwaitOthers(); });
  std::unique_ptr<Device::Recording> recording;
  with_other([&] { recording = device.Record([&] { device.Launch("none", &NoKernel, dim3{1, 1, 1}, 32, 0, 1); }); });
  with_other([&] { recording->Run(); });
  with_other([&] { device.Synchronize(); });
  with_other([&] { device.Free(second); });
  with_other([&] { device.Free(memory); });
}

TEST(CudaDevice, WorksWhateverGpuTheThreadHasChosen) {
  const int before = stand_in::Calls();
  for (const int number : {0, 1}) {
    stand_in::ChooseGpu(1 - number);
    Device device(number);
    EXPECT_EQ(stand_in::CurrentGpu(), 1 - number) << "making a device left the thread another GPU";
    UseAll(device, 1 - number);
    stand_in::ChooseGpu(1 - number);
  }
  EXPECT_GT(stand_in::Calls(), before + 20);
  EXPECT_EQ(stand_in::Mistakes(), std::vector<std::string>());
}

// A launch for both waits for what either was asked for, and either waits for it.
TEST(CudaDevice, RecordingsOfTwoAreOneLaunchBetweenEvents) {
  Device one(0);
  Device other(0);
  const auto record = [](Device& device) {
    return device.Record([&] { device.Launch("none", &NoKernel, dim3{1, 1, 1}, 32, 0, 1); });
  };
  const std::unique_ptr<Device::Recording> first = record(one);
  const std::unique_ptr<Device::Recording> second = record(other);
  const int branches = stand_in::Branches();
  const std::unique_ptr<Device::Recording> both = Together({{&one, first.get()}, {&other, second.get()}});
  EXPECT_EQ(stand_in::Branches(), branches + 2);
  const size_t before = stand_in::StreamCalls().size();
  stand_in::ChooseGpu(1);
  both->Run();
  const std::vector<stand_in::StreamCall> all = stand_in::StreamCalls();
  EXPECT_EQ(std::vector(all.begin() + static_cast<std::ptrdiff_t>(before), all.end()),
            (std::vector<stand_in::StreamCall>{{"record", other.stream()},
                                               {"wait", one.stream()},
                                               {"launch", one.stream()},
                                               {"record", one.stream()},
                                               {"wait", other.stream()}}));
  one.Synchronize();
  other.Synchronize();
  EXPECT_EQ(stand_in::Mistakes(), std::vector<std::string>());
  stand_in::ChooseGpu(0);
}

TEST(CudaDevice, CopiesAreAskedForByAnyThread) {
  for (const int number : {0, 1}) {
    Device device(number);
    stand_in::ChooseGpu(1 - number);
    const std::unique_ptr<CopyStreams> copies = device.MakeCopyStreams();
    void* memory = device.Allocate(64);
    const auto from_thread = [&](const auto& work) {
      std::thread([&] {
        stand_in::ChooseGpu(1 - number);
        work();
      }).join();
    };
    std::unique_ptr<Buffer> pinned;
    int64_t upload = 0;
    int64_t download = 0;
    from_thread([&] { pinned = copies->AllocatePinned(64); });
    from_thread([&] { upload = copies->StartUpload(memory, pinned->data(), 64); });
    from_thread([&] { copies->WorkAfterUploads(); });
    from_thread([&] { copies->DownloadsAfterWork(); });
    from_thread([&] { download = copies->StartDownload(pinned->data(), memory, 64); });
    from_thread([&] { copies->WaitForUpload(upload); });
    from_thread([&] { copies->WaitForDownload(download); });
    device.Free(memory);
  }
  EXPECT_EQ(stand_in::Mistakes(), std::vector<std::string>());
}

TEST(CudaDevice, AsksBeforeBlocksWaitForEachOther) {
  Device device(0);
  EXPECT_TRUE(device.MayLaunchTogether(&NoKernel, 4, 256, 100 * 1024));
  EXPECT_NE(device.MayLaunchTogether(&NoKernel, 5, 256, 100 * 1024).reason.find("5 blocks"), std::string::npos);
  stand_in::TheMachine().cooperative = false;
  EXPECT_NE(device.MayLaunchTogether(&NoKernel, 1, 256, 0).reason.find("does not launch"), std::string::npos);
  stand_in::TheMachine().cooperative = true;
}

std::string ErrorOf(Device& device) {
  try {
    device.Synchronize();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CudaDevice, TellsTheDriverOfAMatrixAndKeepsWhatItRefuses) {
  Device device(0);
  const PartsOf2D parts{.data = &device, .is_bfloat = true, .rows = 300, .cols = 72, .stride = 80, .part_rows = 128};
  MapOf(device, parts);
  EXPECT_EQ(ErrorOf(device), "");
  const std::vector<int64_t> wanted{2,
                                    72,
                                    300,
                                    80 * 2,
                                    64,
                                    128,
                                    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                    CU_TENSOR_MAP_SWIZZLE_128B,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE};
  EXPECT_EQ(stand_in::LastMap(), wanted) << "the innermost size first";
  stand_in::TheMachine().map_result = CUDA_ERROR_INVALID_VALUE;
  MapOf(device, parts);
  EXPECT_NE(ErrorOf(device).find("a map of 300 x 72 numbers, rows 80 apart, failed: CUresult 1"), std::string::npos);
  stand_in::TheMachine().map_result = CUDA_SUCCESS;
  stand_in::TheMachine().maps = false;
  MapOf(device, parts);
  EXPECT_NE(ErrorOf(device).find("driver 525 or newer"), std::string::npos);
  stand_in::TheMachine().maps = true;
}

TEST(CudaDevice, SaysWhichDriverIsNeeded) {
  stand_in::TheMachine().driver = 12020;
  const std::string reason = DeviceAvailable().reason;
  stand_in::TheMachine().driver = 13000;
  EXPECT_NE(reason.find("supports CUDA 12.2"), std::string::npos) << reason;
  EXPECT_NE(reason.find(CUDART_VERSION / 1000 == 13 ? "driver 580 or newer, or lamina-cuda12" : "driver "),
            std::string::npos)
      << reason;
  stand_in::TheMachine().driver = 11080;  // for which there is no package
  const std::string older = DeviceAvailable().reason;
  stand_in::TheMachine().driver = 13000;
  EXPECT_NE(older.find("supports CUDA 11.8"), std::string::npos) << older;
  EXPECT_EQ(older.find("cuda12"), std::string::npos) << older;
}

TEST(CudaDevice, SaysThatThereIsNone) {
  stand_in::TheMachine().gpus = 0;
  EXPECT_NE(DeviceAvailable().reason.find("no GPU"), std::string::npos);
  stand_in::TheMachine().gpus = 2;
}

}  // namespace
}  // namespace lamina::cuda
