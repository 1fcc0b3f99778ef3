// One file that is complete: nothing is looked for beside it.
#include "lamina/platform/shared_library.h"

#include "lamina/platform/process.h"

namespace lamina::platform {

std::string WhyNoLibraries() {
  return "the program for Windows opens no libraries; those for Linux do (docs/install.md)";
}

void* OpenLibrary(const char*, bool, std::string& failure) {
  failure = WhyNoLibraries();
  return nullptr;
}

void* AddressIn(void*, const char*) noexcept { return nullptr; }
std::string FileOfFunction(const void*) { return ProgramFile(); }

}  // namespace lamina::platform
