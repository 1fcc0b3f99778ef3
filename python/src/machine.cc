// Backends by name and number of threads. They are never destroyed: threads of the interpreter may still use them while
// it ends.
#include "python/src/machine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/setting.h"
#include "lamina/platform/process.h"
#include "lamina/tune/profile.h"

namespace lamina::python {
namespace {

struct Made {
  std::unique_ptr<Backend> backend;
  int64_t process;
};

}  // namespace

int ThreadsOf(int threads) {
  if (threads < 0) {
    throw Error(ErrorCode::kInvalidArgument, "threads must be at least 0 (0: as many as there are)",
                {.value = std::to_string(threads)});
  }
  const int most = static_cast<int>(kThreadCounts.high);
  return std::min(most, threads > 0 ? threads : UsualThreads());
}

const Backend& BackendOf(const std::string& name, int threads) {
  static auto& mutex = *new std::mutex;
  static auto& made = *new std::map<std::pair<std::string, int>, Made>;
  const int count = ThreadsOf(threads);
  const std::lock_guard lock(mutex);
  auto [found, is_new] = made.try_emplace({name, count});
  if (is_new) {
    try {
      found->second = {MakeTunedBackend(name, {.threads = count}), platform::ProcessNumber()};
    } catch (...) {
      made.erase(found);
      throw;
    }
  }
  if (found->second.backend->space() == Space::kDevice && found->second.process != platform::ProcessNumber()) {
    throw Error(ErrorCode::kUnsupported, "this process was forked from one that had begun to compute on the GPU",
                {.remedy = "Start it with multiprocessing's \"spawn\", or compute on backend cpu."});
  }
  return *found->second.backend;
}

}  // namespace lamina::python
