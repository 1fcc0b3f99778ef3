// Which members of an archive a person put there.
#include "lamina/data/files/zip_table.h"

#include "lamina/data/files/zip_file.h"

namespace lamina {
namespace {

bool IsFileOfUser(const ZipMember& member) {
  const std::string_view path = member.name;
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  return !name.empty() && !name.starts_with('.') && !path.starts_with("__MACOSX/");
}

}  // namespace

std::optional<std::string> OnlyFileInZip(std::string_view content, const std::string& source) {
  if (!content.starts_with("PK\x03\x04")) {
    return std::nullopt;
  }
  const ZipFile zip(content, source);
  const ZipMember* only = nullptr;
  for (const ZipMember& member : zip.members()) {
    if (IsFileOfUser(member)) {
      if (only != nullptr) {
        return std::nullopt;
      }
      only = &member;
    }
  }
  if (only == nullptr) {
    return std::nullopt;
  }
  std::string file;
  file.reserve(only->size_bytes);
  zip.Read(*only, [&](std::string_view piece) { file += piece; });
  return file;
}

}  // namespace lamina
