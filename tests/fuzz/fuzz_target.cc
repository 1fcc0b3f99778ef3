// The table of fuzz targets and what they share.
#include "tests/fuzz/fuzz_target.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "lamina/base/error.h"

namespace lamina::fuzz {
namespace {

std::vector<FuzzTarget>& Registered() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

// Descriptors of memory files that are not in use.
std::vector<int>& FreeFiles() {
  static std::vector<int> files;
  return files;
}

int EmptyFile() {
  if (FreeFiles().empty()) {
    return memfd_create("fuzz", MFD_CLOEXEC);
  }
  const int descriptor = FreeFiles().back();
  FreeFiles().pop_back();
  return ftruncate(descriptor, 0) == 0 ? descriptor : -1;
}

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return Registered(); }

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  const auto it =
      std::find_if(Registered().begin(), Registered().end(), [&](const auto& row) { return row.name == name; });
  return it == Registered().end() ? nullptr : &*it;
}

RegisteredTargets::RegisteredTargets(std::initializer_list<FuzzTarget> targets) {
  Registered().insert(Registered().end(), targets);
  std::sort(Registered().begin(), Registered().end(), [](const auto& a, const auto& b) { return a.name < b.name; });
}

void Demand(bool holds, const std::string& what) {
  if (!holds) {
    throw Broken(what);
  }
}

bool Accepts(const std::string& source, const std::function<void()>& read) {
  constexpr size_t kMostText_bytes = 4000;
  try {
    read();
    return true;
  } catch (const Error& error) {
    const std::string_view text = error.what();
    Demand(text.find(source) != std::string_view::npos, fmt::format("the error does not name its file: {}", text));
    Demand(text.size() <= kMostText_bytes, fmt::format("an error of {} bytes", text.size()));
    Demand(std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }),
           fmt::format("control characters in an error: {}", text));
    return false;
  }
}

uint8_t Bytes::Byte() {
  if (rest_.empty()) {
    return 0;
  }
  const auto byte = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

int64_t Bytes::Below(int64_t below) {
  const int64_t low = Byte();
  return (below <= 256 ? low : low + 256 * Byte()) % below;
}

std::string_view Bytes::Until(char mark) {
  const size_t end = std::min(rest_.find(mark), rest_.size());
  const std::string_view taken = rest_.substr(0, end);
  rest_.remove_prefix(std::min(rest_.size(), end + 1));
  return taken;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  Bytes bytes(text);
  while (!bytes.Rest().empty()) {
    lines.emplace_back(bytes.Until('\n'));
  }
  return lines;
}

MemoryFile::MemoryFile(std::string_view content) : descriptor_(EmptyFile()) {
  for (size_t done = 0; descriptor_ >= 0 && done < content.size();) {
    const ssize_t n = pwrite(descriptor_, content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (n <= 0) {
      close(descriptor_);
      descriptor_ = -1;
    }
    done += static_cast<size_t>(std::max<ssize_t>(0, n));
  }
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(), "a file in memory");
  }
  path_ = fmt::format("/proc/self/fd/{}", descriptor_);
}

MemoryFile::~MemoryFile() { FreeFiles().push_back(descriptor_); }

}  // namespace lamina::fuzz
