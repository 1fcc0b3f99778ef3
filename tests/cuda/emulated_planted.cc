// Mistakes that a GPU would not forgive, one a kernel: the emulation must see each.
#include "lamina/backend/cuda/cuda_plan.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/epilogue.cuh"
#include "lamina/backend/cuda/numbers.cuh"
#include "tests/cuda/emulated_backend.h"

namespace lamina::cuda_emulated {
namespace {

void Store(float* to) {
  const float four[4] = {};
  StoreGlobal(to, four);
}

void Load(const float* from) {
  float four[4];
  Rows<const float>{from, 8, /*wide=*/true}.Load(0, 0, 4, four);
}

void Keep(int offset) {
  const float pair[2] = {};
  StoreShared(&SharedAs<float>() + offset, pair);
}

// A count of arrivals as the network's kernel has it, its fence at another place.
void Count(unsigned* counter, bool fence_before) {
  if (fence_before) {
    Fence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    CountUp(counter);
  }
}

void NoWork(int) {}

}  // namespace

void RunPlanted(Planted mistake) {
  Device device(0);
  alignas(16) float numbers[16] = {};
  unsigned counter = 0;
  const dim3 one{1, 1, 1};
  switch (mistake) {
    case Planted::kMisalignedStore: device.Launch("store", &Store, one, 1, 0, numbers + 1); break;
    case Planted::kMisalignedLoad: device.Launch("load", &Load, one, 1, 0, numbers + 2); break;
    case Planted::kMisalignedKeep: device.Launch("keep", &Keep, one, 1, 64, 1); break;
    case Planted::kCountWithoutFence: device.LaunchTogether("count", &Count, one, 32, 0, &counter, false); break;
    case Planted::kFenceBeforeBarrier: device.LaunchTogether("count", &Count, one, 32, 0, &counter, true); break;
  }
  device.Synchronize();
}

int64_t PanelRowsOf(const std::string& problem) {
  const Device device(0);
  return Choose(Problem::Parse(problem), /*any_slicing=*/false, device, {}).panel_rows;
}

std::string ErrorOfLaunch(int threads, unsigned grid_rows, int64_t shared_bytes, unsigned together) {
  Device device(0);
  if (together > 0) {
    device.LaunchTogether("none", &NoWork, dim3{together, grid_rows, 1}, threads, shared_bytes, 1);
  } else {
    device.Launch("none", &NoWork, dim3{1, grid_rows, 1}, threads, shared_bytes, 1);
  }
  try {
    device.Synchronize();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace lamina::cuda_emulated
