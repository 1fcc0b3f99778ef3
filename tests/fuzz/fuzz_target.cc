// The table of fuzz targets and what they share.
#include "tests/fuzz/fuzz_target.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "lamina/base/error.h"

namespace lamina::fuzz {
namespace {

constexpr std::array<FuzzTarget, 14> kTargets{{{"csv", &FuzzCsv},
                                               {"npy", &FuzzNpy},
                                               {"idx", &FuzzIdx},
                                               {"gzip", &FuzzGzip},
                                               {"safetensors", &FuzzSafetensors},
                                               {"model", &FuzzModel},
                                               {"checkpoint", &FuzzCheckpoint},
                                               {"c_api", &FuzzCApi},
                                               {"settings", &FuzzSettings},
                                               {"profile", &FuzzProfile},
                                               {"search", &FuzzSearch},
                                               {"derive", &FuzzDerive},
                                               {"layers", &FuzzLayers},
                                               {"kernels", &FuzzKernels}}};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  const auto it = std::find_if(kTargets.begin(), kTargets.end(), [&](const auto& row) { return row.name == name; });
  return it == kTargets.end() ? nullptr : &*it;
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

MemoryFile::MemoryFile(std::string_view content) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
  for (size_t done = 0; descriptor_ >= 0 && done < content.size();) {
    const ssize_t n = write(descriptor_, content.data() + done, content.size() - done);
    if (n <= 0) {
      close(descriptor_);
      descriptor_ = -1;
    }
    done += static_cast<size_t>(std::max<ssize_t>(0, n));
  }
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  path_ = fmt::format("/proc/self/fd/{}", descriptor_);
}

MemoryFile::~MemoryFile() { close(descriptor_); }

}  // namespace lamina::fuzz
