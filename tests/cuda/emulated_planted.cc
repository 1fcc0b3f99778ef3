// Mistakes that a GPU would not forgive, one a kernel: the emulation must see each.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lamina/backend/cuda/barriers.cuh"
#include "lamina/backend/cuda/cuda_plan.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/epilogue.cuh"
#include "lamina/backend/cuda/numbers.cuh"
#include "tests/cuda/emulated_backend.h"
#include "tests/cuda/emulated_planted.h"

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

// Three groups of warps have 504 registers; the last two take more than the first one leaves.
void Take(int given) {
  if (static_cast<int>(threadIdx.x) < given) {
    GiveRegisters<120>();
  } else {
    TakeRegisters<232>();
  }
}

// A part of a matrix to where it may not stand, or to a barrier that nobody began.
void CopyToShared(const TensorMap map, int offset, bool begin) {
  std::byte* const shared = &SharedAs<std::byte>();
  auto* const barrier = reinterpret_cast<SharedBarrier*>(shared);
  if (begin) {
    InitBarrier(barrier, 1);
  }
  CopyPart<false>(shared + offset, map, 0, 0, barrier, 1);
}

void ArriveTwice(int arrivals) {
  auto* const barrier = &SharedAs<SharedBarrier>();
  InitBarrier(barrier, arrivals);
  ArriveExpecting(barrier, 16);  // which never come
  Arrive(barrier, 0);
}

void NoWork(int) {}

void CopyMisaligned(const float* from) { CopyAsync<16>(&SharedAs<float>(), from, 16); }

void ProductOutside(int address) { emulator::SeenByProducts(static_cast<uint32_t>(address)); }

void ProductTooEarly(int) {
  emulator::StartProduct([] {});
}

void HalfABarrier(int from) {
  if (static_cast<int>(threadIdx.x) >= from) {
    __syncthreads();
  }
  __shfl_xor_sync(0xFFFFFFFFU, 1.0F, 0);
}

// Half of the blocks count, and all wait for both.
void HalfAMeeting(unsigned* counter) {
  __syncthreads();
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      Fence();
      CountUp(counter);
    }
    WaitUntil(counter, 2);
  }
}

constexpr int kPlantedThreads = 64;

// Each thread writes a number and reads that of the thread that is as far from the other end.
void WriteAndRead(float* to, PlantedNumbers mistake, bool planted) {
  const auto wrong = [&](PlantedNumbers which) { return planted && mistake == which; };
  float* const shared = &SharedAs<float>();
  const int thread = static_cast<int>(threadIdx.x);
  if (!wrong(PlantedNumbers::kUnwritten)) {
    shared[thread] = 1;
  }
  if (!wrong(PlantedNumbers::kNoBarrier)) {
    __syncthreads();
  }
  to[thread] = shared[kPlantedThreads - 1 - thread];
}

void CopyAndRead(float* to, const float* from, bool planted) {
  float* const shared = &SharedAs<float>() + 4 * threadIdx.x;
  CopyAsync<16>(shared, from, 16);
  CommitCopies();
  if (!planted) {
    WaitForCopies<0>();
  }
  to[threadIdx.x] = shared[3];
}

// A product by what is in shared memory.
void Multiply(float* to, PlantedNumbers mistake, bool planted) {
  float* const shared = &SharedAs<float>();
  shared[threadIdx.x] = 1;
  if (!planted || mistake != PlantedNumbers::kNotPublished) {
    emulator::PublishToProducts();
  }
  __syncthreads();
  float sum = 0;
  emulator::BeginProducts();
  emulator::StartProduct(
      [&] { std::memcpy(&sum, emulator::SeenByProducts(emulator::SharedAddress(shared)), sizeof(sum)); });
  emulator::CommitProducts();
  if (!planted || mistake != PlantedNumbers::kProductNotWaitedFor) {
    emulator::WaitForProducts(0);
  }
  to[threadIdx.x] = sum;
  emulator::WaitForProducts(0);
}

}  // namespace

void RunPlanted(PlantedEnd mistake) {
  Device device(0);
  alignas(16) const float numbers[16] = {};
  unsigned counter = 0;
  const dim3 one{1, 1, 1};
  switch (mistake) {
    case PlantedEnd::kMisalignedCopy: device.Launch("copy", &CopyMisaligned, one, 1, 64, numbers + 1); break;
    case PlantedEnd::kProductOutside: device.Launch("product", &ProductOutside, one, 1, 64, 64); break;
    case PlantedEnd::kProductTooEarly: device.Launch("product", &ProductTooEarly, one, 1, 64, 0); break;
    case PlantedEnd::kHalfABarrier: device.Launch("half", &HalfABarrier, one, 64, 64, 32); break;
    case PlantedEnd::kHalfAMeeting: device.LaunchTogether("meet", &HalfAMeeting, dim3{2, 1, 1}, 32, 0, &counter); break;
  }
  device.Synchronize();
}

float NumberOf(PlantedNumbers mistake, bool planted) {
  Device device(0);
  const dim3 one{1, 1, 1};
  alignas(16) const float ones[4] = {1, 1, 1, 1};
  const float* const from = ones;
  std::vector<float> numbers(kPlantedThreads);
  float* const to = numbers.data();
  constexpr int64_t kBytes = 4 * kPlantedThreads * sizeof(float);
  switch (mistake) {
    case PlantedNumbers::kUnwritten:
    case PlantedNumbers::kNoBarrier:
      device.Launch("numbers", &WriteAndRead, one, kPlantedThreads, kBytes, to, mistake, planted);
      break;
    case PlantedNumbers::kCopyNotWaitedFor:
      device.Launch("numbers", &CopyAndRead, one, kPlantedThreads, kBytes, to, from, planted);
      break;
    case PlantedNumbers::kProductNotWaitedFor:
    case PlantedNumbers::kNotPublished:
      device.Launch("numbers", &Multiply, one, kPlantedThreads, kBytes, to, mistake, planted);
      break;
  }
  device.Synchronize();
  const auto other = std::ranges::find_if(numbers, [](float each) { return each != 1; });
  return other == numbers.end() ? 1 : *other;
}

void RunPlanted(Planted mistake) {
  Device device(0);
  alignas(16) float numbers[16] = {};
  unsigned counter = 0;
  const dim3 one{1, 1, 1};
  const TensorMap map = MapOf(device, {numbers, /*is_bfloat=*/true, 1, 8, 8, 8});
  switch (mistake) {
    case Planted::kMisalignedStore: device.Launch("store", &Store, one, 1, 0, numbers + 1); break;
    case Planted::kMisalignedLoad: device.Launch("load", &Load, one, 1, 0, numbers + 2); break;
    case Planted::kMisalignedKeep: device.Launch("keep", &Keep, one, 1, 64, 1); break;
    case Planted::kCountWithoutFence: device.LaunchTogether("count", &Count, one, 32, 0, &counter, false); break;
    case Planted::kFenceBeforeBarrier: device.LaunchTogether("count", &Count, one, 32, 0, &counter, true); break;
    case Planted::kTooManyRegisters: device.LaunchAs("take", &Take, {one, 384, 0, false, 1}, 128); break;
    case Planted::kMisplacedPart:
      device.LaunchAs("copy", &CopyToShared, {one, 1, 4096, false, 1}, map, 1024 - 16 + 512, true);
      break;
    case Planted::kNoBarrier: device.LaunchAs("copy", &CopyToShared, {one, 1, 4096, false, 1}, map, 1008, false); break;
    case Planted::kMoreArrivals: device.LaunchAs("arrive", &ArriveTwice, {one, 1, 64, false, 1}, 1); break;
  }
  device.Synchronize();
}

namespace {

using emulator::Without;
constexpr std::pair<const char*, Without> kWaits[] = {{"slab is there", Without::kFullWaits},
                                                      {"slab is done with", Without::kEmptyWaits},
                                                      {"turns", Without::kTurns},
                                                      {"first meeting of a cluster", Without::kFirstMeeting},
                                                      {"last meeting of a cluster", Without::kLastMeeting}};

}  // namespace

std::vector<std::string> WaitsToLeaveOut() {
  std::vector<std::string> names;
  for (const auto& [name, wait] : kWaits) {
    names.emplace_back(name);
  }
  return names;
}

void LeaveOut(const std::string& wait) {
  emulator::DoWithout(Without::kNothing);
  for (const auto& [name, each] : kWaits) {
    if (wait == name) {
      emulator::DoWithout(each);
    }
  }
}

int64_t PanelRowsOf(const std::string& problem, int64_t panel_bytes) {
  struct OnePlan final : PlanSource {
    explicit OnePlan(int64_t bytes) { plan.cache_bytes = bytes; }
    Plan PlanFor(const Problem&) const override { return plan; }
    Plan plan;
  };
  const Device device(0);
  BackendOptions options;
  options.plans = std::make_shared<const OnePlan>(panel_bytes);
  return Choose(Problem::Parse(problem), /*any_slicing=*/false, device, options).panel_rows;
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
