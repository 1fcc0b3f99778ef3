// What kernels on the host ask of the GPU, of the block that runs.
#include "tests/cuda/emulated_block.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace lamina::emulator {

void Fail(const std::string& message) {
  std::fprintf(stderr, "CUDA emulator: %s\n", message.c_str());
  std::abort();
}

namespace {

// Those of one launch; kept, as their stacks are.
std::vector<std::unique_ptr<Block>>& Blocks(size_t count) {
  static thread_local std::vector<std::unique_ptr<Block>> blocks;
  while (blocks.size() < count) {
    blocks.push_back(std::make_unique<Block>());
  }
  return blocks;
}

Block& TheBlock() { return Block::Running(); }

// Runs side by side have a thread each.
std::atomic<int64_t> kernels_so_far = 0;
std::atomic<int64_t> threads_so_far = 0;

}  // namespace

const Position& Here() { return TheBlock().current().position; }
void* SharedMemory() { return TheBlock().shared(); }

void Barrier() {
  TheBlock().current().at_barrier = true;
  TheBlock().current().fenced = false;
  TheBlock().Yield();
}

const std::byte* ExchangeBytes(const void* own, size_t size_bytes) {
  int size = 0;
  return TheBlock().Exchange(own, size_bytes, &size);
}

uint64_t Shuffle(uint64_t value, int from) {
  int size = 0;
  const std::byte* const all = TheBlock().Exchange(&value, sizeof(value), &size);
  if (from >= 0 && from < size) {
    std::memcpy(&value, all + static_cast<size_t>(from) * kMostExchanged_bytes, sizeof(value));
  }
  return value;
}

void RequireAligned(const void* address, size_t size_bytes) {
  if (reinterpret_cast<uintptr_t>(address) % size_bytes != 0) {
    Fail("a misaligned vector of " + std::to_string(size_bytes) + " bytes");
  }
}

void Fence() { TheBlock().current().fenced = true; }

void CopyAsync(void* to, const void* from, int bytes, int valid_bytes) {
  if (reinterpret_cast<uintptr_t>(to) % static_cast<uintptr_t>(bytes) != 0 ||
      (valid_bytes > 0 && reinterpret_cast<uintptr_t>(from) % static_cast<uintptr_t>(bytes) != 0)) {
    Fail("a misaligned asynchronous copy");
  }
  TheBlock().current().open.push_back({to, from, bytes, valid_bytes});
}

void CommitCopies() {
  Fiber& fiber = TheBlock().current();
  fiber.groups.push_back(std::move(fiber.open));
  fiber.open.clear();
}

void WaitForCopies(int pending) {
  Fiber& fiber = TheBlock().current();
  while (std::ssize(fiber.groups) > pending) {
    for (const Copy& copy : fiber.groups.front()) {
      Perform(copy);
    }
    fiber.groups.pop_front();
  }
}

namespace {

constexpr uint32_t kSharedBegin = 1024 + 16;

}  // namespace

uint32_t SharedAddress(const void* shared) {
  return kSharedBegin + static_cast<uint32_t>(static_cast<const char*>(shared) - static_cast<char*>(SharedMemory()));
}

void PublishToProducts() { TheBlock().Publish(); }

const std::byte* SeenByProducts(uint32_t address) {
  if (address < kSharedBegin || address - kSharedBegin >= TheBlock().shared_bytes()) {
    Fail("a product of what is outside of shared memory");
  }
  return static_cast<const std::byte*>(TheBlock().seen()) + (address - kSharedBegin);
}

void BeginProducts() { TheBlock().current().may_start_products = true; }

void StartProduct(std::function<void()> product) {
  Fiber& fiber = TheBlock().current();
  if (!fiber.may_start_products) {
    Fail("a product that adds to sums before it may: BeginProducts()");
  }
  fiber.products.push_back(std::move(product));
}

void CommitProducts() {
  Fiber& fiber = TheBlock().current();
  fiber.committed_products.push_back(fiber.products.size());
}

void WaitForProducts(int pending) {
  Fiber& fiber = TheBlock().current();
  while (std::ssize(fiber.committed_products) > pending) {
    for (; fiber.done_products < fiber.committed_products.front(); ++fiber.done_products) {
      fiber.products[fiber.done_products]();
    }
    fiber.committed_products.pop_front();
  }
  if (fiber.committed_products.empty()) {
    fiber.products.clear();
    fiber.done_products = 0;
    fiber.may_start_products = false;
  }
}

namespace {

void Count(const dim3& grid, const dim3& block) {
  ++kernels_so_far;
  threads_so_far += static_cast<int64_t>(grid.x) * grid.y * grid.z * block.x * block.y * block.z;
}

}  // namespace

namespace {

// Blocks that run at once, prepared, until all are done.
void RunTogether(const char* name, std::vector<std::unique_ptr<Block>>& blocks, unsigned count, bool restless) {
  constexpr int kMostIdleRounds = 10'000;
  constexpr unsigned kNap_rounds = 256;      // longer than most steps of a kernel take
  constexpr unsigned kShortNap_rounds = 64;  // of blocks of a cluster, which cannot do much alone
  uint32_t random = 1;
  unsigned napping = 0;
  std::vector<char> runs(count, 1);
  int idle = 0;
  for (int round = 0; std::count(runs.begin(), runs.end(), 1) > 0; ++round) {
    const int64_t before = Block::progress;
    // One after the other falls behind for a while: who relies on a block that it did not wait for reads too early.
    if (!restless) {
      napping = static_cast<unsigned>(round) / kNap_rounds % (2 * count);
    } else if (static_cast<unsigned>(round) % kShortNap_rounds == 0) {
      random = random * 1664525U + 1013904223U;
      napping = (random >> 16) % (2 * count);
    }
    for (unsigned i = 0; i < count; ++i) {
      const unsigned x = round % 2 == 0 ? i : count - 1 - i;
      if (napping != x) {
        runs[x] = runs[x] != 0 && blocks[x]->Round() ? 1 : 0;
      }
    }
    idle = Block::progress == before ? idle + 1 : 0;
    if (idle == kMostIdleRounds) {
      Fail(std::string("kernel ") + name + ": threads that wait for each other for ever");
    }
  }
}

}  // namespace

void LaunchTogether(const char* name, dim3 grid, dim3 block, int64_t shared_bytes, const std::function<void()>& body) {
  Count(grid, block);
  auto& blocks = Blocks(grid.x);
  for (unsigned x = 0; x < grid.x; ++x) {
    blocks[x]->Prepare(name, {{}, {x, 0, 0}, block, grid}, shared_bytes, body);
  }
  RunTogether(name, blocks, grid.x, /*restless=*/false);
}

void LaunchClusters(const char* name, dim3 grid, dim3 block, int64_t shared_bytes, unsigned cluster,
                    const std::function<void()>& body) {
  Count(grid, block);
  auto& blocks = Blocks(cluster);
  std::vector<Block*> all;
  for (unsigned rank = 0; rank < cluster; ++rank) {
    all.push_back(blocks[rank].get());
  }
  for (unsigned first = 0; first < grid.x; first += cluster) {
    for (unsigned rank = 0; rank < cluster; ++rank) {
      blocks[rank]->Prepare(name, {{}, {first + rank, 0, 0}, block, grid}, shared_bytes, body);
      blocks[rank]->Join(all, rank);
    }
    RunTogether(name, blocks, cluster, /*restless=*/true);
  }
}

void RequireFenced() {
  if (!TheBlock().current().fenced) {
    Fail("a count that others wait for, without a fence since the last barrier");
  }
}

unsigned AddOne(unsigned* counter) {
  ++Block::progress;
  return (*counter)++;
}

void Pause() { TheBlock().Yield(); }

void Launch(const char* name, dim3 grid, dim3 block, int64_t shared_bytes, const std::function<void()>& body) {
  Count(grid, block);
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        Blocks(1).front()->Run(name, {{}, {x, y, z}, block, grid}, shared_bytes, body);
      }
    }
  }
}

Counts CountsSoFar() { return {kernels_so_far, threads_so_far}; }

}  // namespace lamina::emulator
