// Several files that are one result: all of them get their names, or none does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/file.h"

namespace lamina {

/// Makes the folder, and those above it. Throws Error(kIo) with `what` it is.
void MakeFolders(const std::string& folder, std::string_view what = "the folder");

/// Files are written beside their targets; Commit() gives all of them their names, in the order in which they were
/// begun. Without it, as where the disk is full, nothing of them stays, nor of a folder that was made for them.
class FileSet {
 public:
  FileSet() = default;
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// Makes a folder, and those that it is in, unless they are there. Throws Error(kIo).
  void MakeFolder(const std::string& folder);
  /// A further file. Throws Error(kNotFound | kIo).
  void Add(const std::string& path, std::string_view content);
  /// The same to be written bit by bit, until the next one begins.
  AtomicFile& Begin(const std::string& path);
  /// Throws Error(kIo); what has replaced an older file by then stays, what is new goes.
  void Commit();

 private:
  void CompleteLast();

  std::vector<std::unique_ptr<AtomicFile>> files_;
  std::vector<std::string> paths_;
  std::vector<std::string> made_folders_;  // the outermost first
  bool committed_ = false;
};

}  // namespace lamina
