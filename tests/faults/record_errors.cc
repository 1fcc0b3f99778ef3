// Preloaded into tests and programs: appends every lamina::Error that is thrown to LAMINA_THROWN, for
// scripts/error_paths. A line has its text, a tab, and the places in the program that it was thrown through. Each text
// is written once a process.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <typeinfo>

namespace {

void Record(const std::exception& error) {
  constexpr int kMostFrames = 12;
  static const char* const path = std::getenv("LAMINA_THROWN");
  static std::mutex mutex;
  static std::set<size_t> seen;
  void* frames[kMostFrames];
  const int count = path == nullptr ? 0 : backtrace(frames, kMostFrames);
  std::string line;
  for (const char c : std::string_view(error.what())) {
    line += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  line += '\t';
  for (int i = 2; i < count; ++i) {
    Dl_info info{};
    link_map* module = nullptr;
    if (dladdr1(frames[i], &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) != 0 && module != nullptr) {
      char text[32];
      std::snprintf(text, sizeof(text), "+%zx ", reinterpret_cast<uintptr_t>(frames[i]) - module->l_addr - 1);
      line += module->l_name[0] == '\0' ? "/proc/self/exe" : module->l_name;
      line += text;
    }
  }
  const std::lock_guard lock(mutex);
  if (path == nullptr || !seen.insert(std::hash<std::string>()(line)).second) {
    return;
  }
  char program[4096] = "";
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  line += '\t' + std::string(program, static_cast<size_t>(length < 0 ? 0 : length)) + '\n';
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file >= 0) {
    const ssize_t written = write(file, line.data(), line.size());
    static_cast<void>(written);
    close(file);
  }
}

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier): what compilers call for throw
extern "C" [[noreturn]] void __cxa_throw(void* object, void* type, void (*destructor)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  static thread_local bool inside = false;
  if (!inside && std::strcmp(static_cast<const std::type_info*>(type)->name(), "N6lamina5ErrorE") == 0) {
    inside = true;
    try {
      Record(*static_cast<const std::exception*>(object));
    } catch (...) {  // no memory for it
    }
    inside = false;
  }
  next(object, type, destructor);
  std::abort();
}
