// gzip decompression with zlib: several members, checked sums, bounded growth.
#include "lamina/data/files/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/hardware.h"

namespace lamina {
namespace {

constexpr size_t kUsualRatio = 16;  // what deflate can reach at best is 1032
constexpr size_t kFirst_bytes = 1 << 16;

class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) {  // 16: gzip framing, with its CRC and length checks
      // no test: 40 KiB that a process does not get
      throw Error(ErrorCode::kResource, "cannot start zlib");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

[[noreturn]] void ThrowBadGzip(const std::string& source, const std::string& message) {
  throw Error(ErrorCode::kBadData, message, {.file = source, .remedy = "Fetch or compress the file again."});
}

// The length the last member claims, trusted as far as numbers and pictures are usually compressed.
size_t FirstGuess_bytes(std::string_view content) {
  if (content.size() < 18) {
    return kFirst_bytes;
  }
  const auto* tail = reinterpret_cast<const unsigned char*>(content.data() + content.size() - 4);
  const size_t claimed = tail[0] | tail[1] << 8 | tail[2] << 16 | static_cast<size_t>(tail[3]) << 24;
  return std::max(kFirst_bytes, std::min(claimed + 1, content.size() * kUsualRatio));
}

void Grow(std::string& out, size_t limit_bytes, const std::string& source) {
  if (out.size() >= limit_bytes) {
    // no test: it takes a control group with less memory than the file has
    throw Error(ErrorCode::kResource,
                fmt::format("decompresses to more than the {} MiB of memory that are available", limit_bytes >> 20),
                {.file = source, .remedy = "Use a smaller file or a machine with more memory."});
  }
  out.resize(std::min(limit_bytes, out.size() + out.size() / 2));
}

// Inflates from content[at...] into the room behind the `used` bytes of `out`; true where a member ended.
bool InflateSome(z_stream& stream, std::string_view content, size_t& at, std::string& out, size_t& used,
                 const std::string& source) {
  constexpr size_t kStep = 1U << 30;  // avail_in and avail_out are 32-bit
  const size_t in = std::min(kStep, content.size() - at);
  const size_t room = std::min(kStep, out.size() - used);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data() + at));
  stream.avail_in = static_cast<uInt>(in);
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
  stream.avail_out = static_cast<uInt>(room);
  const int status = inflate(&stream, Z_NO_FLUSH);
  at += in - stream.avail_in;
  used += room - stream.avail_out;
  if (status == Z_MEM_ERROR) {
    // no test: 40 KiB that a process does not get
    throw Error(ErrorCode::kResource, "zlib is out of memory", {.file = source});
  }
  if (status == Z_DATA_ERROR || status == Z_NEED_DICT) {
    ThrowBadGzip(source, fmt::format("damaged gzip ({})", stream.msg != nullptr ? stream.msg : "bad data"));
  }
  if (status != Z_STREAM_END && at == content.size() && stream.avail_out > 0) {
    ThrowBadGzip(source, "truncated gzip");
  }
  return status == Z_STREAM_END;
}

// After a member: whether another one follows.
bool IsFollowed(std::string_view content, size_t at, const std::string& source) {
  const std::string_view rest = content.substr(at);
  if (rest.find_first_not_of('\0') == std::string_view::npos) {
    return false;  // zero padding, as tapes and gzip itself allow
  }
  if (!IsGzip(rest)) {
    ThrowBadGzip(source, fmt::format("{} bytes of something else after the gzip data", rest.size()));
  }
  return true;
}

// Inflates member after member into `out`, which is cut to what there was. Where it is full, `more` gives it room, or
// false to leave it at that.
template <class More>
void InflateMembers(std::string_view content, std::string& out, const std::string& source, const More& more) {
  Inflater inflater;
  size_t used = 0;
  for (size_t at = 0; at < content.size() && (used < out.size() || more());) {
    if (InflateSome(inflater.stream(), content, at, out, used, source)) {
      if (!IsFollowed(content, at, source)) {
        break;
      }
      inflateReset(&inflater.stream());
    }
  }
  out.resize(used);
}

}  // namespace

bool IsGzip(std::string_view content) { return content.size() >= 2 && content[0] == '\x1f' && content[1] == '\x8b'; }

std::string Gunzip(std::string_view content, const std::string& source) try {
  size_t limit_bytes = 0;
  const auto limit = [&] {  // asked once, and not for what is small: looking takes longer than inflating that
    if (limit_bytes == 0) {
      const int64_t available_bytes = QueryHardware().UsableMemory_bytes();
      limit_bytes = available_bytes > 0 ? static_cast<size_t>(available_bytes) : std::numeric_limits<size_t>::max();
    }
    return limit_bytes;
  };
  const size_t guess_bytes = FirstGuess_bytes(content);
  std::string out;
  out.resize(guess_bytes > kFirst_bytes ? std::min(limit(), guess_bytes) : guess_bytes);
  InflateMembers(content, out, source, [&] {
    Grow(out, limit(), source);
    return true;
  });
  return out;
} catch (const std::bad_alloc&) {
  throw Error(ErrorCode::kResource, "not enough memory to decompress", {.file = source});
} catch (const std::length_error&) {
  throw Error(ErrorCode::kResource, "not enough memory to decompress", {.file = source});
}

std::string GunzipStart(std::string_view content, size_t most, const std::string& source) {
  std::string out(most, '\0');
  InflateMembers(content, out, source, [] { return false; });
  return out;
}

void GunzipTo(std::string_view content, const std::string& source, const std::function<void(std::string_view)>& sink) {
  constexpr size_t kPiece_bytes = 1 << 20;
  Inflater inflater;
  std::string piece(kPiece_bytes, '\0');
  for (size_t at = 0; at < content.size();) {
    size_t used = 0;
    const bool ended = InflateSome(inflater.stream(), content, at, piece, used, source);
    sink(std::string_view(piece).substr(0, used));
    if (ended) {
      if (!IsFollowed(content, at, source)) {
        break;
      }
      inflateReset(&inflater.stream());
    }
  }
}

std::string ReadFileDecompressed(const std::string& path) {
  std::string content = ReadFile(path);
  return IsGzip(content) ? Gunzip(content, path) : content;
}

}  // namespace lamina
