// A block of threads that are fibers: one runs until it waits, then the next one does. A context starts a fiber once,
// jumps change between them: swapcontext asks the kernel for the signal mask every time.
#pragma once

#include "tests/cuda/emulated_fiber.h"  // before headers of the system, as it changes one

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lamina::emulator {

inline constexpr int kMostRounds = 100'000'000;

class Block {
 public:
  void Prepare(const char* name, const Position& position, int64_t shared_bytes, const std::function<void()>& body) {
    const int threads = static_cast<int>(position.block_size.x * position.block_size.y * position.block_size.z);
    while (std::ssize(fibers_) < threads) {
      fibers_.push_back(std::make_unique<Fiber>());
    }
    shared_.assign(static_cast<size_t>(shared_bytes + 15) / 16, {~uint64_t{0}, ~uint64_t{0}});
    warps_.assign(static_cast<size_t>(threads + kWarpSize - 1) / kWarpSize, {});
    seen_ = shared_;
    published_ = 0;
    barriers_.clear();
    later_.clear();
    copies_ = 0;
    cluster_ = {this};
    rank_ = 0;
    naps_ = false;
    used_until_ = 0;
    threads_ = threads;
    alive_ = threads;
    round_ = 0;
    name_ = name;
    body_ = &body;
    for (int i = 0; i < threads; ++i) {
      Start(*fibers_[static_cast<size_t>(i)], position, static_cast<unsigned>(i));
    }
  }

  // Lets every thread go on that can; false once all are done.
  bool Round() {
    running = this;
    for (int i = 0; i < threads_; ++i) {
      Fiber& fiber = *fibers_[static_cast<size_t>(round_ % 2 == 0 ? i : threads_ - 1 - i)];
      if (!fiber.finished && !fiber.at_barrier && !Naps(i)) {
        current_ = &fiber;
        Resume(fiber);
        alive_ -= fiber.finished ? 1 : 0;
        progress += fiber.finished ? 1 : 0;
      }
    }
    Release(name_, alive_);
    DoLater();
    ++round_;
    if (alive_ == 0 && !CameToCluster(used_until_)) {
      Fail(std::string("kernel ") + name_ + ": a block that has ended while others may use its shared memory");
    }
    if (alive_ == 0 && !later_.empty()) {
      Fail(std::string("kernel ") + name_ + ": a block that ends while its copies are under way");
    }
    return alive_ > 0;
  }

  void Run(const char* name, const Position& position, int64_t shared_bytes, const std::function<void()>& body) {
    Prepare(name, position, shared_bytes, body);
    while (Round()) {
      if (round_ == kMostRounds) {
        Fail(std::string("kernel ") + name + ": a shuffle that only some lanes of a warp reach");
      }
    }
  }

  static Block& Running() { return *running; }
  // Threads done, barriers passed, counters changed: on the whole, whether anything still happens.
  inline static thread_local int64_t progress = 0;

  Fiber& current() { return *current_; }
  void* shared() { return shared_.data(); }
  int64_t shared_bytes() const { return std::ssize(shared_) * 16; }
  void Publish() {
    if (!current_->counted && ++published_ == threads_) {
      seen_ = shared_;
    }
    current_->counted = true;
  }
  void* seen() { return seen_.data(); }

  // The blocks that see each other, and this one's place among them. One warp after the other falls behind, too.
  void Join(std::vector<Block*> cluster, unsigned rank) {
    cluster_ = std::move(cluster);
    rank_ = rank;
    naps_ = true;
    for (int i = 0; i < threads_; ++i) {
      fibers_[static_cast<size_t>(i)]->registers = kRegistersOfMultiprocessor / threads_ / 8 * 8;
    }
  }
  const std::vector<Block*>& cluster() const { return cluster_; }
  unsigned rank() const { return rank_; }
  bool has_ended() const { return alive_ == 0; }
  const char* name() const { return name_; }

  std::map<int64_t, PhaseBarrier>& barriers() { return barriers_; }
  // Where something of the own shared memory stands in it.
  int64_t OffsetOf(const void* shared) {
    const int64_t offset = static_cast<const char*>(shared) - static_cast<char*>(this->shared());
    if (offset < 0 || offset >= shared_bytes()) {
      Fail(std::string("kernel ") + name_ + ": what is to be in shared memory is not");
    }
    return offset;
  }
  PhaseBarrier& BarrierAt(int64_t offset) {
    const auto found = barriers_.find(offset);
    if (found == barriers_.end()) {
      Fail(std::string("kernel ") + name_ + ": a barrier that nobody has begun");
    }
    if (has_ended()) {
      Fail(std::string("kernel ") + name_ + ": a barrier of a block that has ended");
    }
    return found->second;
  }
  // Ends the phase if it may end.
  void Look(PhaseBarrier& barrier) {
    if (barrier.pending < 0) {
      Fail(std::string("kernel ") + name_ + ": more arrivals than a barrier has");
    }
    if (barrier.pending > 0 || barrier.bytes != 0) {
      return;
    }
    barrier.pending = barrier.arrivals;
    ++barrier.ended;
    ++progress;
  }
  void AddLater(std::function<void()> work) {
    constexpr int kShortest_rounds = 3;
    constexpr int kDifferent = 5;
    later_.push_back({kShortest_rounds + copies_ * 7 % kDifferent, std::move(work)});
    ++copies_;
  }
  int copies() const { return copies_; }
  // Another block uses this one's shared memory, which has to be there up to this meeting of the cluster.
  void UsedUntil(int meeting) { used_until_ = std::max(used_until_, meeting); }
  bool CameToCluster(int times) const {
    for (int i = 0; i < threads_; ++i) {
      if (fibers_[static_cast<size_t>(i)]->at_cluster < times) {
        return false;
      }
    }
    return true;
  }
  int threads() const { return threads_; }
  int RegistersOfAll() const {
    int all = 0;
    for (int i = 0; i < threads_; ++i) {
      all += fibers_[static_cast<size_t>(i)]->registers;
    }
    return all;
  }
  static constexpr int kRegistersOfMultiprocessor = 64 * 1024;
#if defined(__SANITIZE_ADDRESS__)  // must hear of every change of stacks, and takes long jumps for errors
  void Yield() {
    Fiber& fiber = *current_;
    __sanitizer_start_switch_fiber(&fiber.fake_stack, scheduler_stack_, scheduler_stack_bytes_);
    swapcontext(&fiber.context, &scheduler_context_);
    __sanitizer_finish_switch_fiber(fiber.fake_stack, nullptr, nullptr);
  }
#else
  void Yield() {
    if (_setjmp(current_->resume) == 0) {
      _longjmp(scheduler_, 1);
    }
  }
#endif

  // What the lanes of the warp give, once all have given theirs; `size` of them.
  const std::byte* Exchange(const void* own, size_t size_bytes, int* size) {
    Fiber& fiber = *current_;
    const int thread = static_cast<int>(fiber.position.thread.x);  // one-dimensional blocks
    Warp& warp = warps_[static_cast<size_t>(thread / kWarpSize)];
    *size = std::min(kWarpSize, threads_ - thread / kWarpSize * kWarpSize);
    const int round = fiber.shuffles++ % 2;
    std::memcpy(warp.values[round][thread % kWarpSize], own, size_bytes);
    if (++warp.arrived[round] == *size) {
      warp.arrived[1 - round] = 0;
    }
    while (warp.arrived[round] < *size) {
      Yield();
    }
    return warp.values[round][0];
  }

 private:
  static void Enter() {
    Block& block = *running;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &block.scheduler_stack_, &block.scheduler_stack_bytes_);
#endif
    for (;;) {
      (*block.body_)();
      block.current_->finished = true;
      block.Yield();
    }
  }

  static void MakeContext(Fiber& fiber) {
    fiber.started = true;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack_bytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Block::Enter, 0);
  }

#if defined(__SANITIZE_ADDRESS__)
  void Resume(Fiber& fiber) {
    if (!fiber.started) {
      MakeContext(fiber);
    }
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, fiber.stack.get(), kStack_bytes);
    swapcontext(&scheduler_context_, &fiber.context);
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
  }
#else
  void Resume(Fiber& fiber) {
    if (_setjmp(scheduler_) != 0) {
      return;
    }
    if (fiber.started) {
      _longjmp(fiber.resume, 1);
    }
    MakeContext(fiber);
    setcontext(&fiber.context);
  }
#endif

  void Start(Fiber& fiber, Position position, unsigned index) {
    const dim3& size = position.block_size;
    position.thread = {index % size.x, index / size.x % size.y, index / (size.x * size.y)};
    fiber.position = position;
    fiber.finished = fiber.at_barrier = fiber.fenced = false;
    fiber.shuffles = 0;
    fiber.open.clear();
    fiber.groups.clear();
    fiber.products.clear();
    fiber.committed_products.clear();
    fiber.done_products = 0;
    fiber.may_start_products = false;
    fiber.counted = false;
    fiber.at_cluster = 0;
    fiber.registers = 0;
  }

  // A warp or a group of four falls behind, by chance. Who is not waited for any more is slow: the groups that read
  // what the first one writes.
  bool Naps(int thread) const {
    constexpr int kNap_rounds = 40;
    if (!naps_) {
      return false;
    }
    const int nap = round_ / kNap_rounds;
    const auto warp = static_cast<uint32_t>(thread / kWarpSize);
    const auto warps = static_cast<uint32_t>(std::max(1, threads_ / kWarpSize));
    if (LeftOut() == Without::kEmptyWaits && round_ / 8 % 8 != 0 && warp >= 4) {
      return true;
    }
    const uint32_t random = static_cast<uint32_t>(nap + 1) * 2654435761U >> 16;
    return random % 2 == 0 ? random / 2 % (warps + 1) == warp : random / 2 % (warps / 4 + 2) == warp / 4;
  }

  void DoLater() {
    std::vector<Later> due;
    for (auto each = later_.begin(); each != later_.end();) {
      if (--each->rounds <= 0) {
        due.push_back(std::move(*each));
        each = later_.erase(each);
      } else {
        ++each;
      }
    }
    for (const Later& each : due) {
      each.work();
    }
  }

  // Lets the threads go on once all of them wait at a barrier.
  void Release(const char* name, int alive) {
    int waiting = 0;
    for (int i = 0; i < threads_; ++i) {
      const Fiber& fiber = *fibers_[static_cast<size_t>(i)];
      waiting += !fiber.finished && fiber.at_barrier ? 1 : 0;
    }
    if (waiting == 0 || waiting < alive) {
      return;
    }
    if (alive < threads_) {
      Fail(std::string("kernel ") + name + ": a barrier that only some threads of a block reach");
    }
    for (int i = 0; i < threads_; ++i) {
      fibers_[static_cast<size_t>(i)]->at_barrier = false;
      fibers_[static_cast<size_t>(i)]->counted = false;
    }
    published_ = 0;
    ++progress;
  }

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<std::pair<uint64_t, uint64_t>> shared_;
  std::vector<std::pair<uint64_t, uint64_t>> seen_;  // of it by products
  int published_ = 0;                                // threads, since the last barrier
  std::vector<Warp> warps_;
  std::map<int64_t, PhaseBarrier> barriers_;  // by where they stand
  std::vector<Later> later_;
  int copies_ = 0;  // by the hardware
  std::vector<Block*> cluster_;
  unsigned rank_ = 0;
  bool naps_ = false;
  int used_until_ = 0;
  jmp_buf scheduler_;
#if defined(__SANITIZE_ADDRESS__)
  ucontext_t scheduler_context_;
  const void* scheduler_stack_ = nullptr;
  size_t scheduler_stack_bytes_ = 0;
#endif
  Fiber* current_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  const char* name_ = "";
  int threads_ = 0;
  int alive_ = 0;
  int round_ = 0;
  inline static thread_local Block* running = nullptr;
};

}  // namespace lamina::emulator
