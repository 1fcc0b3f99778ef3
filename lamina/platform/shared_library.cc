// dlopen(3).
#include "lamina/platform/shared_library.h"

#include <dlfcn.h>

namespace lamina::platform {

std::string WhyNoLibraries() { return ""; }

void* OpenLibrary(const char* name, bool for_others, std::string& failure) {
  // What a function needs is looked up when it is called first: cuBLASLt has 500 MB of them.
  void* const library = dlopen(name, RTLD_LAZY | (for_others ? RTLD_GLOBAL : RTLD_LOCAL));
  if (library == nullptr) {
    failure = dlerror();
  }
  return library;
}

void* AddressIn(void* library, const char* name) noexcept { return dlsym(library, name); }

std::string FileOfFunction(const void* function) {
  Dl_info here{};
  return dladdr(function, &here) != 0 && here.dli_fname != nullptr ? here.dli_fname : "";
}

}  // namespace lamina::platform
