// A block of threads that are fibers: one runs until it waits, then the next one does. A context starts a fiber once,
// jumps change between them: swapcontext asks the kernel for the signal mask every time.
#pragma once

#undef _FORTIFY_SOURCE  // its longjmp only goes up the same stack
#include <setjmp.h>
#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/emulator.h"

namespace lamina::emulator {

inline constexpr size_t kStack_bytes = 256 * 1024;
inline constexpr int kWarpSize = 32;
inline constexpr int kMostRounds = 100'000'000;

struct Copy {
  void* to;
  const void* from;
  int bytes;
  int valid_bytes;
};

inline void Perform(const Copy& copy) {
  std::memset(copy.to, 0, static_cast<size_t>(copy.bytes));
  if (copy.valid_bytes > 0) {
    std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.valid_bytes));
  }
}

// Two rounds of values: a lane reads one while others may already write the next.
struct Warp {
  std::byte values[2][kWarpSize][kMostExchanged_bytes] = {};
  int arrived[2] = {0, 0};
};

struct Fiber {
  ucontext_t context;
  jmp_buf resume;
  void* fake_stack = nullptr;  // AddressSanitizer's
  bool started = false;
  std::unique_ptr<char[]> stack{new char[kStack_bytes]};
  Position position;
  bool finished = false;
  bool at_barrier = false;
  bool fenced = false;  // since its last barrier
  int shuffles = 0;
  std::vector<Copy> open;                       // not committed
  std::deque<std::vector<Copy>> groups;         // committed, not done
  std::vector<std::function<void()>> products;  // started since none was under way
  size_t done_products = 0;
  std::deque<size_t> committed_products;  // up to which, each commit that is not done
  bool may_start_products = false;
};

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
      if (!fiber.finished && !fiber.at_barrier) {
        current_ = &fiber;
        Resume(fiber);
        alive_ -= fiber.finished ? 1 : 0;
        progress += fiber.finished ? 1 : 0;
      }
    }
    Release(name_, alive_);
    ++round_;
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
    if (++published_ == threads_) {
      seen_ = shared_;
    }
  }
  const void* seen() const { return seen_.data(); }
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
    }
    published_ = 0;
    ++progress;
  }

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<std::pair<uint64_t, uint64_t>> shared_;
  std::vector<std::pair<uint64_t, uint64_t>> seen_;  // of it by products
  int published_ = 0;                                // threads, since the last barrier
  std::vector<Warp> warps_;
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
