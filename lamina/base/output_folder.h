// Folders that hold results under names which the program chooses: pictures, reports, weights.
#pragma once

#include <span>
#include <string>

namespace lamina {

class FileSet;  // base/file_set.h

/// Called before any work. Throws Error(kIo) unless `folder` can be made or takes files. None of `names`, as far as
/// they are known by then, may be somebody else's (ClaimNames).
void RequireOutputFolder(const std::string& folder, std::span<const std::string> names = {});

/// Begins files of a folder: makes it, and with the set's Commit() `names` lamina's own in it, which its file
/// .lamina-files lists. Throws Error(kIo), naming it and changing nothing, where something stands under one of them
/// that is not listed or is no regular file.
void ClaimNames(const std::string& folder, std::span<const std::string> names, FileSet& files);

}  // namespace lamina
