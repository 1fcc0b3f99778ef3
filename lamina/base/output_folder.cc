// The list is a text file: a first line that says what it is, then a name a line.
#include "lamina/base/output_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/file_set.h"
#include "lamina/base/text.h"
#include "lamina/platform/file.h"

namespace lamina {
namespace {

constexpr const char* kList = ".lamina-files";
constexpr std::string_view kFirstLine = "lamina output 1";

std::string In(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

[[noreturn]] void ThrowSomebodyElses(const std::string& path) {
  throw Error(ErrorCode::kIo, "is there and is not known as lamina's, which would replace it",
              {.file = path, .remedy = "Move it, or give another folder."});
}

std::set<std::string> ListedIn(const std::string& folder) {
  const std::string path = In(folder, kList);
  const auto facts = platform::FactsOf(path.c_str());
  if (!facts) {
    return {};
  }
  const std::string text = facts->is_file() ? ReadFile(path) : "";
  const std::vector<std::string_view> lines = SplitText(text, '\n');
  if (lines.empty() || lines.front() != kFirstLine) {
    ThrowSomebodyElses(path);
  }
  std::set<std::string> names(lines.begin() + 1, lines.end());
  names.erase("");  // behind the last line's end
  return names;
}

void RequireOwn(const std::string& folder, std::span<const std::string> names, const std::set<std::string>& listed) {
  for (const std::string& name : names) {
    const auto facts = platform::FactsOf(In(folder, name).c_str());
    if (facts && (!facts->is_file() || !listed.contains(name))) {
      ThrowSomebodyElses(In(folder, name));
    }
  }
}

}  // namespace

void RequireOutputFolder(const std::string& folder, std::span<const std::string> names) {
  if (folder.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the name of the output folder is empty");
  }
  std::error_code failed;
  std::filesystem::path nearest = std::filesystem::absolute(folder, failed).lexically_normal();
  while (!nearest.has_filename() && nearest.has_relative_path()) {
    nearest = nearest.parent_path();  // "a/b/" ends in an empty name
  }
  while (!std::filesystem::exists(nearest, failed) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  if (!std::filesystem::is_directory(nearest, failed)) {
    throw Error(ErrorCode::kIo, "is not a folder", {.file = nearest.string(), .remedy = "Name another output folder."});
  }
  try {
    RequireWritableTarget((nearest / "report").string());
  } catch (const Error& error) {
    throw Error(
        error.code(), "no files can be made in this folder",
        {.file = nearest.string(), .value = folder, .remedy = "Check its permissions, or name another output folder."});
  }
  RequireOwn(folder, names, ListedIn(folder));
}

void ClaimNames(const std::string& folder, std::span<const std::string> names, FileSet& files) {
  files.MakeFolder(folder);
  std::set<std::string> listed = ListedIn(folder);
  RequireOwn(folder, names, listed);
  listed.insert(names.begin(), names.end());
  files.Add(In(folder, kList), fmt::format("{}\n{}\n", kFirstLine, fmt::join(listed, "\n")));
}

}  // namespace lamina
