// dlopen(3).
#include "lamina/base/opened_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace lamina {

OpenedLibrary::OpenedLibrary(std::string name)
    : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    std::string_view error = dlerror();  // "NAME: cannot open shared object file: No such file or directory"
    if (error.starts_with(name_ + ": ")) {
      error.remove_prefix(name_.size() + 2);
    }
    reason_ = fmt::format("{} cannot be opened: {}", name_, error);
  }
}

void* OpenedLibrary::Address(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

void OpenedLibrary::Lacks(const char* name) {
  if (reason_.empty()) {
    reason_ = fmt::format("{} has no function {}", name_, name);
  }
}

}  // namespace lamina
