// What of threads a browser has in a way of its own: a page that shares memory has them
// (docs/decisions/0104-web-threads.md).
#include "lamina/platform/thread.h"

#include <emscripten/em_js.h>
#include <emscripten/threading.h>
#include <pthread.h>

#include <algorithm>
#include <limits>

#include "lamina/platform/posix.h"

// Threads that the page has started ahead (web/train/library.js): one that is started while others wait never begins.
EM_JS(int, lamina_threads_ahead, (), { return Module["workers"] || 0; });

namespace lamina::platform {
namespace {

const int threads_ahead = lamina_threads_ahead();  // the first thread knows

volatile void* AddressOf(const std::atomic<uint32_t>& word) { return const_cast<std::atomic<uint32_t>*>(&word); }

}  // namespace

std::optional<int64_t> ClockNumberOf(pthread_t /*thread*/) noexcept { return std::nullopt; }
int64_t ThreadClock::Time_ns() const noexcept { return -1; }

void NameThisThread(const char* /*name*/) noexcept {}
void AskForShortSlices() noexcept {}

void WaitWhile(const std::atomic<uint32_t>& word, uint32_t seen) noexcept {
  emscripten_futex_wait(AddressOf(word), seen, std::numeric_limits<double>::infinity());
}
void WakeAll(const std::atomic<uint32_t>& word) noexcept {
  emscripten_futex_wake(AddressOf(word), std::numeric_limits<int>::max());
}

std::vector<uint64_t> UsableProcessors() { return {(uint64_t{2} << std::min(threads_ahead, 62)) - 1}; }

}  // namespace lamina::platform
