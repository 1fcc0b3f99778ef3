// Libraries by name, and where plug-ins may be.
#include "lamina/base/opened_library.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "lamina/platform/process.h"
#include "lamina/platform/shared_library.h"

namespace lamina {

OpenedLibrary::OpenedLibrary(std::string name) : name_(std::move(name)) {
  std::string failure;
  handle_ = platform::OpenLibrary(name_.c_str(), /*for_others=*/false, failure);
  if (handle_ == nullptr) {
    std::string_view error = failure;  // "NAME: cannot open shared object file: No such file or directory"
    if (error.starts_with(name_ + ": ")) {
      error.remove_prefix(name_.size() + 2);
    }
    reason_ = fmt::format("{} cannot be opened: {}", name_, error);
  }
}

void* OpenedLibrary::Address(const char* name) const {
  return handle_ == nullptr ? nullptr : platform::AddressIn(handle_, name);
}

void OpenedLibrary::Lacks(const char* name) {
  if (reason_.empty()) {
    reason_ = fmt::format("{} has no function {}", name_, name);
  }
}

std::vector<std::string> PluginPlaces(const std::string& name) {
  std::vector<std::filesystem::path> folders;
  std::error_code failed;
  if (const std::filesystem::path program = platform::ProgramFile(); !program.empty()) {
    folders.push_back(program.parent_path());
  }
  if (const std::string here = platform::FileOfFunction(reinterpret_cast<const void*>(&PluginPlaces)); !here.empty()) {
    const auto folder = std::filesystem::absolute(here, failed).parent_path();
    if (!failed && (folders.empty() || folder != folders.front())) {
      folders.push_back(folder);
    }
  }
  std::vector<std::string> places;
  for (const auto& folder : folders) {
    for (const std::filesystem::path& from : {folder, folder.parent_path() / "lib" / "lamina", folder / "lamina",
                                              folder.parent_path() / name, folder.parent_path().parent_path() / name}) {
      places.push_back((from / (name + ".so")).string());
    }
  }
  return places;
}

}  // namespace lamina
