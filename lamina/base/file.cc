// File access, every failure an Error with the system's reason.
#include "lamina/base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/platform/file.h"

namespace lamina {
namespace {

constexpr size_t kPending_bytes = 1 << 20;

}  // namespace

std::string ReadFile(const std::string& path) {
  platform::FileFacts facts;
  const int descriptor = OpenForReading(path, facts);
  std::string content;
  // Room for one byte more than the file has, so that its end is seen without growing.
  content.resize(facts.is_file() ? static_cast<size_t>(facts.size_bytes) + 1 : kPending_bytes);
  size_t used = 0;
  while (true) {
    if (used == content.size()) {
      content.resize(content.size() + kPending_bytes);
    }
    const ptrdiff_t n = platform::Read(descriptor, content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      const int error = errno;
      platform::Close(descriptor);
      ThrowFileError(path, "read", error);
    }
    if (n == 0) {
      break;
    }
    used += static_cast<size_t>(n);
  }
  platform::Close(descriptor);
  content.resize(used);
  return content;
}

void RequireReadableFile(const std::string& path) {
  platform::FileFacts facts;
  platform::Close(OpenForReading(path, facts));
}

void RequireWritableTarget(const std::string& path) {
  if (!IsSpecialFile(path)) {
    // Permissions do not tell of read-only file systems, of /proc, nor of names that are too long.
    const PartFile probe(path);
  }
}

void FileUse::AddRead(const std::string& name, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    read.push_back({name, path});
  }
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) {
    return true;
  }
  const auto canonical = [&](const std::string& path) {
    const auto absolute = std::filesystem::absolute(path, error);
    const auto resolved = std::filesystem::weakly_canonical(absolute, error);
    return error ? absolute : resolved;
  };
  return canonical(a) == canonical(b);
}

void CheckFiles(const FileUse& files) {
  for (size_t i = 0; i < files.written.size(); ++i) {
    const NamedPath& written = files.written[i];
    if (written.path.empty() || IsSpecialFile(written.path)) {
      continue;
    }
    const auto require_another = [&](const NamedPath& other) {
      if (!other.path.empty() && IsSameFile(other.path, written.path)) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("{} would overwrite the file of {}", written.name, other.name),
                    {.file = written.path, .remedy = "Give it another name."});
      }
    };
    std::for_each(files.read.begin(), files.read.end(), require_another);
    std::for_each(files.written.begin() + static_cast<ptrdiff_t>(i) + 1, files.written.end(), require_another);
  }
  for (const NamedPath& file : files.written) {
    if (!file.path.empty()) {
      RequireWritableTarget(file.path);
    }
  }
}

AtomicFile::AtomicFile(std::string path) : file_(std::move(path)) {}

void AtomicFile::Write(const void* data, size_t size_bytes) {
  pending_.append(static_cast<const char*>(data), size_bytes);
  if (pending_.size() >= kPending_bytes) {
    Flush();
  }
}

void AtomicFile::Flush() {
  size_t done = 0;
  while (done < pending_.size()) {
    const ptrdiff_t n = platform::Write(file_.descriptor(), pending_.data() + done, pending_.size() - done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      ThrowFileError(file_.path(), "write", errno);
    }
    done += static_cast<size_t>(n);
  }
  pending_.clear();
}

void AtomicFile::Complete(bool keep_lock) {
  Flush();
  file_.Complete(keep_lock);
}

void AtomicFile::Commit() {
  Flush();
  file_.Commit();
}

void WriteFileAtomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.Write(content);
  file.Commit();
}

}  // namespace lamina
