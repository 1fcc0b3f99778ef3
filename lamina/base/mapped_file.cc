// Mappings, which a signal handler can ask for by an address.
#include "lamina/base/mapped_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/platform/file.h"
#include "lamina/platform/memory.h"

namespace lamina {
namespace {

// The whole pages that hold any of [offset, offset + length), within the file.
std::pair<int64_t, int64_t> PagesOf(int64_t offset, int64_t length, int64_t size_bytes) {
  const int64_t page = platform::PageSize_bytes();
  const int64_t begin = std::max<int64_t>(0, offset) / page * page;
  return {begin, std::max(begin, std::min(size_bytes, offset + length))};
}

// Writes every byte: for file systems that cannot reserve.
int WriteZeros(int descriptor, int64_t size_bytes) {
  const std::vector<char> zeros(1 << 20);
  for (int64_t done = 0; done < size_bytes;) {
    const auto most = static_cast<size_t>(std::min<int64_t>(size_bytes - done, static_cast<int64_t>(zeros.size())));
    const ptrdiff_t n = platform::WriteAt(descriptor, zeros.data(), most, done);
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
  const int error = platform::Reserve(descriptor, size_bytes);
  return error == platform::kNoReserve ? WriteZeros(descriptor, size_bytes) : error;
}

// The mappings of this process, where a signal handler can read them. Further ones are not known to it.
struct MappingSlot {
  std::atomic<bool> taken{false};
  std::atomic<const std::byte*> begin{nullptr};
  std::atomic<int64_t> size_bytes{0};
  std::array<char, platform::kLongestPath_bytes> path{};
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
  void* mapped = platform::MapFile(descriptor, size_bytes, writable, offset);
  if (mapped == nullptr) {
    throw Error(ErrorCode::kResource,
                fmt::format("cannot map {}: {}", BytesText(size_bytes), platform::ReasonOf(errno)), {.file = path});
  }
  data_ = static_cast<std::byte*>(mapped);
  RememberMapping(data_, size_bytes, WithoutControls(path));
}

Mapping::~Mapping() {
  if (data_ != nullptr) {
    ForgetMapping(data_);
    platform::Unmap(data_, size_bytes_);
  }
}

void Mapping::Release(int64_t offset, int64_t length) const noexcept {
  const auto [begin, end] = PagesOf(offset, length, size_bytes_);
  if (end > begin) {
    platform::ReleasePages(data_ + begin, end - begin);
  }
}

void Mapping::Prefetch(int64_t offset, int64_t length) const noexcept {
  const auto [begin, end] = PagesOf(offset, length, size_bytes_);
  if (end > begin) {
    platform::PrefetchPages(data_ + begin, end - begin);
  }
}

MappedFile::MappedFile(const std::string& path) {
  platform::FileFacts facts;
  const int descriptor = OpenForReading(path, facts);
  try {
    if (!facts.is_file() || facts.size_bytes == 0) {
      throw Error(ErrorCode::kIo, facts.is_file() ? "is empty" : "is no regular file, which mapping needs",
                  {.file = path});
    }
    mapping_ = Mapping(descriptor, facts.size_bytes, false, path);
  } catch (...) {
    platform::Close(descriptor);
    throw;
  }
  platform::Close(descriptor);
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
  platform::BeginFlush(file_.descriptor(), offset, length);
}

}  // namespace lamina
