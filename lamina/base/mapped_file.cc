// Mappings through POSIX calls.
#include "lamina/base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

// The whole pages that hold any of [offset, offset + length), within the file.
std::pair<int64_t, int64_t> PagesOf(int64_t offset, int64_t length, int64_t size_bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t begin = std::max<int64_t>(0, offset) / page * page;
  return {begin, std::max(begin, std::min(size_bytes, offset + length))};
}

// Writes every byte: for file systems that cannot reserve.
int WriteZeros(int descriptor, int64_t size_bytes) {
  const std::vector<char> zeros(1 << 20);
  for (int64_t done = 0; done < size_bytes;) {
    const auto most = static_cast<size_t>(std::min<int64_t>(size_bytes - done, static_cast<int64_t>(zeros.size())));
    const ssize_t n = pwrite(descriptor, zeros.data(), most, done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return n < 0 ? errno : ENOSPC;
    }
    done += n;
  }
  return 0;
}

int Reserve(int descriptor, int64_t size_bytes) {
#ifdef __linux__
  while (fallocate(descriptor, 0, 0, size_bytes) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) {
      return WriteZeros(descriptor, size_bytes);
    }
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
#else
  return WriteZeros(descriptor, size_bytes);
#endif
}

// The mappings of this process, where a signal handler can read them. Further ones are not known to it.
struct MappingSlot {
  std::atomic<bool> taken{false};
  std::atomic<const std::byte*> begin{nullptr};
  std::atomic<int64_t> size_bytes{0};
  std::array<char, PATH_MAX> path{};
};
std::array<MappingSlot, 64> mappings;

void RememberMapping(const std::byte* begin, int64_t size_bytes, const std::string& path) {
  for (MappingSlot& slot : mappings) {
    if (!slot.taken.exchange(true)) {
      const size_t length = std::min(path.size(), slot.path.size() - 1);
      std::copy_n(path.c_str(), length, slot.path.data());
      slot.path[length] = '\0';
      slot.size_bytes.store(size_bytes);
      slot.begin.store(begin);
      return;
    }
  }
}
void ForgetMapping(const std::byte* begin) {
  for (MappingSlot& slot : mappings) {
    if (slot.begin.load() == begin) {
      slot.begin.store(nullptr);
      slot.taken.store(false);
      return;
    }
  }
}

}  // namespace

const char* MappedFileAt(const void* address) noexcept {
  const auto* at = static_cast<const std::byte*>(address);
  for (const MappingSlot& slot : mappings) {
    const std::byte* begin = slot.begin.load();
    if (begin != nullptr && at >= begin && at < begin + slot.size_bytes.load()) {
      return slot.path.data();
    }
  }
  return nullptr;
}

Mapping::Mapping(int descriptor, int64_t size_bytes, bool writable, const std::string& path, int64_t offset)
    : size_bytes_(size_bytes) {
  if (size_bytes == 0) {
    return;
  }
  void* mapped = mmap(nullptr, static_cast<size_t>(size_bytes), writable ? PROT_READ | PROT_WRITE : PROT_READ,
                      MAP_SHARED, descriptor, offset);
  if (mapped == MAP_FAILED) {
    throw Error(ErrorCode::kResource, fmt::format("cannot map {}: {}", BytesText(size_bytes), std::strerror(errno)),
                {.file = path});
  }
  data_ = static_cast<std::byte*>(mapped);
  RememberMapping(data_, size_bytes, WithoutControls(path));
}

Mapping::~Mapping() {
  if (data_ != nullptr) {
    ForgetMapping(data_);
    munmap(data_, static_cast<size_t>(size_bytes_));
  }
}

void Mapping::Release(int64_t offset, int64_t length) const noexcept {
  const auto [begin, end] = PagesOf(offset, length, size_bytes_);
  if (end > begin) {
    madvise(data_ + begin, static_cast<size_t>(end - begin), MADV_DONTNEED);
  }
}

void Mapping::Prefetch(int64_t offset, int64_t length) const noexcept {
  const auto [begin, end] = PagesOf(offset, length, size_bytes_);
  if (end > begin) {
    madvise(data_ + begin, static_cast<size_t>(end - begin), MADV_WILLNEED);
  }
}

MappedFile::MappedFile(const std::string& path) {
  struct stat info {};
  const int descriptor = OpenForReading(path, info);
  try {
    if (!S_ISREG(info.st_mode) || info.st_size == 0) {
      throw Error(ErrorCode::kIo, S_ISREG(info.st_mode) ? "is empty" : "is no regular file, which mapping needs",
                  {.file = path});
    }
    mapping_ = Mapping(descriptor, info.st_size, false, path);
  } catch (...) {
    close(descriptor);
    throw;
  }
  close(descriptor);
}

MappedOutput::MappedOutput(const std::string& path, int64_t size_bytes) : file_(path) {
  if (file_.in_place()) {
    throw Error(ErrorCode::kIo, "is no regular file, which mapping needs",
                {.file = path, .remedy = "Write to a file on a disk."});
  }
  if (const int error = Reserve(file_.descriptor(), size_bytes); error != 0) {
    ThrowFileError(path, fmt::format("reserve {} ({} bytes)", BytesText(size_bytes), WithThousands(size_bytes)), error);
  }
  mapping_ = Mapping(file_.descriptor(), size_bytes, true, path);
}

void MappedOutput::Finish(int64_t offset, int64_t length) const noexcept {
  mapping_.Release(offset, length);
#ifdef __linux__
  sync_file_range(file_.descriptor(), offset, length, SYNC_FILE_RANGE_WRITE);
#endif
}

}  // namespace lamina
