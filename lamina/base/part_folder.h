// A folder that is made beside its target and takes its name when it is complete.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lamina/base/file_claim.h"

namespace lamina {

/// Makes a folder beside `path`; Commit() gives it that name. It removes only files whose names folders of this kind
/// have: those of the folder before it, and leftovers of a killed process.
class PartFolder {
 public:
  /// Whether the folders of this kind have a file of this name.
  using Owns = std::function<bool(std::string_view name)>;

  /// Throws Error(kIo) where the folder cannot be made, where another run makes the same one (FileClaim), and as
  /// RequireReplaceable().
  PartFolder(const std::string& path, Owns owns);
  ~PartFolder();
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  /// Where the files are written meanwhile.
  const std::string& part() const { return part_; }
  /// Throws Error(kIo), and as RequireReplaceable(): then what was there stays.
  void Commit();

 private:
  std::string path_;
  Owns owns_;
  std::unique_ptr<FileClaim> claim_;
  std::string part_;
};

/// Throws Error(kIo), naming what is in the way, unless `path` is absent or is a folder, not a link. It may hold only
/// the files that `owns` names and their unfinished parts.
void RequireReplaceable(const std::string& path, const PartFolder::Owns& owns);

}  // namespace lamina
