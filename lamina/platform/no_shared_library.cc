// What stands in the place of shared_library.cc in a program without a loader: the static file.
#include "lamina/platform/shared_library.h"

namespace lamina::platform {

std::string WhyNoLibraries() {
  return "the static file opens no libraries; the packages for Debian and Python do (docs/install.md)";
}

void* OpenLibrary(const char*, bool, std::string& failure) {
  failure = WhyNoLibraries();
  return nullptr;
}

void* AddressIn(void*, const char*) noexcept { return nullptr; }
std::string FileOfFunction(const void*) { return ""; }

}  // namespace lamina::platform
