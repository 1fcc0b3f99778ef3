// A page of the browser has no loader.
#include "lamina/platform/shared_library.h"

namespace lamina::platform {

std::string WhyNoLibraries() { return "the page opens no libraries"; }

void* OpenLibrary(const char*, bool, std::string& failure) {
  failure = WhyNoLibraries();
  return nullptr;
}

void* AddressIn(void*, const char*) noexcept { return nullptr; }
std::string FileOfFunction(const void*) { return ""; }

}  // namespace lamina::platform
