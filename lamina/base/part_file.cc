// Files that get their name when they are complete.
#include "lamina/base/part_file.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/unfinished_files.h"
#include "lamina/platform/file.h"
#include "lamina/platform/process.h"

namespace lamina {
namespace {

std::string FolderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

constexpr std::string_view kPartBegin = ".lamina-";
constexpr std::string_view kPartEnd = ".part";
constexpr size_t kMark_chars = 16;

uint32_t Mixed(uint64_t number) {  // the end of SplitMix64
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<uint32_t>(number ^ (number >> 31));
}

// A number that no other part has, and a sum of it with the file's name: a person does not come upon it.
std::string MarkFor(std::string_view file, uint32_t number) {
  uint64_t sum = 0xCBF29CE484222325ULL ^ number;
  for (const char c : file) {  // FNV-1a
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return fmt::format("{:08x}{:08x}", number, Mixed(sum));
}

uint32_t NewNumber() {
  static std::atomic<uint64_t> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return Mixed(Mixed(static_cast<uint64_t>(now)) + (static_cast<uint64_t>(platform::ProcessNumber()) << 32U) +
               0x9E3779B9U * ++count);
}

// Whether this process has not yet looked for parts of this file.
bool IsFirst(const std::string& path) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  return seen.insert(path).second;
}

// The descriptor of `path` where nobody else holds its lock, else -1: its writer lives, or locks are not known here.
int TakeAbandoned(const std::string& path) {
  const int descriptor = platform::Open(path.c_str(), platform::OpenFor::kReadingOwn);
  if (descriptor >= 0) {
    const auto facts = platform::FactsOf(descriptor);
    if (!facts || !facts->is_file() || facts->links != 1 || platform::TryLock(descriptor) != platform::Lock::kTaken) {
      platform::Close(descriptor);
      return -1;
    }
  }
  return descriptor;
}

}  // namespace

bool IsNameOf(const std::string& path, int descriptor) {
  const auto named = platform::FactsOf(path.c_str());
  const auto opened = platform::FactsOf(descriptor);
  return named && opened && named->device == opened->device && named->number == opened->number;
}

std::string OwnName(const std::string& target, uint32_t number, std::string_view ending) {
  const std::string file = std::filesystem::path(target).filename().string();
  return fmt::format("{}{}{}{}", target, kPartBegin, MarkFor(file, number), ending);
}

std::string NewPartName(const std::string& target) { return OwnName(target, NewNumber(), kPartEnd); }

std::string_view FileOfPart(std::string_view name) {
  constexpr size_t kAdded = kPartBegin.size() + kMark_chars + kPartEnd.size();
  if (name.size() <= kAdded || !name.ends_with(kPartEnd)) {
    return {};
  }
  const std::string_view file = name.substr(0, name.size() - kAdded);
  const std::string_view mark = name.substr(file.size() + kPartBegin.size(), kMark_chars);
  uint32_t number = 0;
  const auto [end, failed] = std::from_chars(mark.data(), mark.data() + kMark_chars / 2, number, 16);
  const bool ours = name.substr(file.size(), kPartBegin.size()) == kPartBegin && failed == std::errc() &&
                    end == mark.data() + kMark_chars / 2 && mark == MarkFor(file, number);
  return ours ? file : std::string_view();
}

void ThrowFileError(const std::string& path, const std::string& doing, int error) {
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  std::string remedy;
  if (error == ENOENT) {
    remedy = "Check the path.";
  } else if (platform::IsFullDisk(error)) {
    remedy = "Free space on that disk or write elsewhere.";
  } else if (error == EFBIG) {
    remedy = "The file system or the shell (ulimit -f) allows no file of that size: write elsewhere.";
  } else if (error == ENOTDIR) {
    remedy = "Name a folder.";
  } else if (error == EBUSY) {
    remedy = "Close it in the program that has it open (Excel, perhaps), or give another name.";
  } else if (error == EACCES || error == EROFS) {
    remedy = "Check the permissions or write elsewhere.";
  }
  throw Error(code, fmt::format("cannot {}: {}", doing, platform::ReasonOf(error)), {.file = path, .remedy = remedy});
}

int OpenForReading(const std::string& path, platform::FileFacts& facts) {
  const int descriptor = platform::Open(path.c_str(), platform::OpenFor::kReading);
  if (descriptor < 0) {
    ThrowFileError(path, "open", errno);
  }
  const auto found = platform::FactsOf(descriptor);
  if (!found) {
    const int error = errno;
    platform::Close(descriptor);
    ThrowFileError(path, "read", error);
  }
  facts = *found;
  if (facts.is_folder()) {
    platform::Close(descriptor);
    throw Error(ErrorCode::kIo, "is a directory, a file was expected", {.file = path});
  }
  return descriptor;
}

void WriteAt(int descriptor, const void* data, int64_t size_bytes, int64_t offset, const std::string& path) {
  const auto* bytes = static_cast<const char*>(data);
  for (int64_t done = 0; done < size_bytes;) {
    const ptrdiff_t n =
        platform::WriteAt(descriptor, bytes + done, static_cast<size_t>(size_bytes - done), offset + done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      ThrowFileError(path, "write", n < 0 ? errno : ENOSPC);
    }
    done += n;
  }
}

bool IsSpecialFile(const std::string& path) {
  const auto facts = platform::FactsOfTarget(path.c_str());
  return facts && !facts->is_file() && !facts->is_folder();
}

// Whoever looks for abandoned parts may take a new one for such before its lock: it is then gone, or about to go.
CreatedPart CreatePart(const std::string& target) {
  while (true) {
    CreatedPart part{.path = NewPartName(target)};
    part.descriptor = platform::Open(part.path.c_str(), platform::OpenFor::kCreating);
    if (part.descriptor < 0) {
      if (errno == EEXIST) {
        continue;
      }
      ThrowFileError(target, "create", errno);
    }
    const bool held = platform::TryLock(part.descriptor) == platform::Lock::kHeld;
    if (!held && IsNameOf(part.path, part.descriptor)) {
      return part;
    }
    platform::Close(part.descriptor);
  }
}

void RemoveAbandonedParts(const std::string& folder, const std::function<bool(std::string_view)>& which) {
  platform::EachName(folder, [&](std::string_view name) {
    if (const std::string_view file = FileOfPart(name); file.empty() || !which(file)) {
      return;
    }
    const std::string part = (std::filesystem::path(folder) / name).string();
    const int descriptor = TakeAbandoned(part);
    if (descriptor < 0) {
      return;
    }
    if (IsNameOf(part, descriptor)) {  // not of a file that has its final name by now
      platform::Remove(part.c_str());
    }
    platform::Close(descriptor);
  });
}

PartFile::PartFile(std::string path) : path_(std::move(path)) {
  std::error_code error;  // what cannot be asked cannot be created, either
  if (std::filesystem::is_directory(path_, error)) {
    throw Error(ErrorCode::kIo, "is a directory, a file name was expected", {.file = path_});
  }
  if (IsSpecialFile(path_)) {  // /dev/full, pipes and the like cannot be renamed over
    in_place_ = true;
    descriptor_ = platform::Open(path_.c_str(), platform::OpenFor::kWriting);
  } else {
    const std::string folder = FolderOf(path_);
    if (!platform::MayWriteInto(folder.c_str())) {
      const int denied = errno;
      const bool is_file = std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error);
      ThrowFileError(folder, "write into the folder", is_file ? ENOTDIR : denied);
    }
    if (IsFirst(path_)) {
      const std::string file = std::filesystem::path(path_).filename().string();
      RemoveAbandonedParts(folder, [&](std::string_view of) { return of == file; });
    }
    CreatedPart part = CreatePart(path_);
    temporary_path_ = std::move(part.path);
    descriptor_ = part.descriptor;
  }
  if (descriptor_ < 0) {
    ThrowFileError(path_, "create", errno);
  }
  if (!temporary_path_.empty()) {
    RememberUnfinished(temporary_path_);
  }
}

PartFile::~PartFile() {
  if (!temporary_path_.empty()) {
    platform::Remove(temporary_path_.c_str());
    ForgetUnfinished(temporary_path_);
  }
  for (const int descriptor : {descriptor_, lock_}) {
    if (descriptor >= 0) {
      platform::Close(descriptor);
    }
  }
}

void PartFile::Complete(bool keep_lock) {
  if (descriptor_ < 0) {
    return;
  }
  if (!in_place_) {
    // A second descriptor holds the lock until the part has its final name, as closing the first may still fail.
    if (!platform::Flush(descriptor_) || (keep_lock && (lock_ = platform::Duplicate(descriptor_)) < 0)) {
      ThrowFileError(path_, "write", errno);
    }
  }
  if (!platform::Close(std::exchange(descriptor_, -1))) {
    ThrowFileError(path_, "write", errno);
  }
}

void PartFile::Commit() {
  Complete();
  if (in_place_) {
    return;
  }
  if (!platform::Rename(temporary_path_.c_str(), path_.c_str())) {
    ThrowFileError(path_, "replace", errno);
  }
  ForgetUnfinished(std::exchange(temporary_path_, {}));
  if (lock_ >= 0) {
    platform::Close(std::exchange(lock_, -1));
  }
  platform::FlushFolder(FolderOf(path_).c_str());  // best effort: the rename itself is already atomic
}

void RemovePartFiles() noexcept { RemoveUnfinished(); }

}  // namespace lamina
