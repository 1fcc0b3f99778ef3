// The end record names the list of members, which names where each begins. Nothing is believed before it is checked.
#include "lamina/data/files/zip_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <exception>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr size_t kEnd_bytes = 22;
constexpr size_t kEntry_bytes = 46;
constexpr size_t kLocal_bytes = 30;
constexpr size_t kMostComment_bytes = 0xFFFF;
constexpr uint32_t kInZip64 = 0xFFFFFFFF;
// Sheets of a million equal rows are packed to a hundredth; what is made to fill the memory to a thousandth.
constexpr uint64_t kUsualSize_bytes = 64 << 20;
constexpr uint64_t kMostRatio = 400;
// Ways of packing.
constexpr uint32_t kStored = 0;
constexpr uint32_t kDeflated = 8;

[[noreturn]] void ThrowBadZip(const std::string& source, const std::string& message) {
  throw Error(ErrorCode::kBadData, message,
              {.file = source, .remedy = "Copy or save the file again, or save it as CSV UTF-8."});
}

[[noreturn]] void ThrowZip64(const std::string& source) {
  throw Error(ErrorCode::kUnsupported, "is a zip64 archive, which is for more than 4 GiB",
              {.file = source, .remedy = "Save the sheet as CSV UTF-8."});
}

// A number of at most 4 bytes, the lowest first; the caller knows that they are there.
uint32_t NumberAt(std::string_view content, size_t at, size_t bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < bytes; ++i) {
    number |= static_cast<uint32_t>(static_cast<unsigned char>(content[at + i])) << (8 * i);
  }
  return number;
}

// Where the end record begins, whose comment ends the file.
size_t FindEnd(std::string_view content, const std::string& source) {
  const size_t first =
      content.size() > kEnd_bytes + kMostComment_bytes ? content.size() - kEnd_bytes - kMostComment_bytes : size_t{0};
  for (size_t at = content.rfind("PK\x05\x06"); at != std::string_view::npos && at >= first && content.size() > at;
       at = content.rfind("PK\x05\x06", at - 1)) {
    if (content.size() - at >= kEnd_bytes && NumberAt(content, at + 20, 2) <= content.size() - at - kEnd_bytes) {
      return at;
    }
    if (at == 0) {
      break;
    }
  }
  ThrowBadZip(source, "a damaged or truncated zip archive: the list of its members is not there");
}

ZipMember MemberAt(std::string_view content, size_t at) {
  ZipMember member;
  member.flags = NumberAt(content, at + 8, 2);
  member.method = NumberAt(content, at + 10, 2);
  member.sum = NumberAt(content, at + 16, 4);
  member.packed_bytes = NumberAt(content, at + 20, 4);
  member.size_bytes = NumberAt(content, at + 24, 4);
  member.offset = NumberAt(content, at + 42, 4);
  member.name = content.substr(at + kEntry_bytes, NumberAt(content, at + 28, 2));
  std::replace(member.name.begin(), member.name.end(), '\\', '/');  // some programs write them so
  return member;
}

class RawInflater {
 public:
  RawInflater() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {  // negative: no header and no sum
      // no test: 40 KiB that a process does not get
      throw Error(ErrorCode::kResource, "cannot start zlib");
    }
  }
  ~RawInflater() { inflateEnd(&stream_); }
  RawInflater(const RawInflater&) = delete;
  RawInflater& operator=(const RawInflater&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

// Passes what `packed` holds on to `pass`; false where it is damaged.
template <class Pass>
bool Inflate(std::string_view packed, const Pass& pass) {
  constexpr size_t kPiece_bytes = 1 << 16;
  RawInflater inflater;
  z_stream& stream = inflater.stream();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());  // below 4 GiB
  std::string piece(kPiece_bytes, '\0');
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    pass(std::string_view(piece).substr(0, piece.size() - stream.avail_out));
    if (status == Z_STREAM_END) {
      return stream.avail_in == 0;
    }
    if (status != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) {
      return false;
    }
  }
}

std::string Lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return lower;
}

// A name from the file, for a message.
std::string NameInMessage(const ZipMember& member) { return WithoutControls(Excerpt(member.name)); }

}  // namespace

ZipFile::ZipFile(std::string_view content, const std::string& source) : content_(content), source_(source) {
  const size_t end = FindEnd(content, source);
  const uint32_t count = NumberAt(content, end + 10, 2);
  const uint64_t list_bytes = NumberAt(content, end + 12, 4);
  const uint64_t list = NumberAt(content, end + 16, 4);
  if (list == kInZip64 || list_bytes == kInZip64 || count == 0xFFFF) {
    ThrowZip64(source);
  }
  if (NumberAt(content, end + 4, 2) != 0 || NumberAt(content, end + 6, 2) != 0) {
    ThrowBadZip(source, "is one of several parts of a zip archive");
  }
  if (list + list_bytes > end) {
    ThrowBadZip(source, "a damaged or truncated zip archive: the list of its members is cut off");
  }
  size_t at = list;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t left = end - at;
    if (left < kEntry_bytes || content.substr(at, 4) != "PK\x01\x02" ||
        left - kEntry_bytes < NumberAt(content, at + 28, 2)) {
      ThrowBadZip(source, fmt::format("a damaged zip archive: member {} of {} is not in its list", i + 1, count));
    }
    members_.push_back(MemberAt(content, at));
    const ZipMember& member = members_.back();
    if (member.packed_bytes == kInZip64 || member.size_bytes == kInZip64 || member.offset == kInZip64) {
      ThrowZip64(source);
    }
    at += std::min<size_t>(left, kEntry_bytes + NumberAt(content, at + 28, 2) + NumberAt(content, at + 30, 2) +
                                     NumberAt(content, at + 32, 2));
  }
}

const ZipMember* ZipFile::Find(std::string_view name) const {
  const std::string wanted = Lowered(name);
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const ZipMember& member) {
    return member.name.size() == wanted.size() && Lowered(member.name) == wanted;
  });
  return found == members_.end() ? nullptr : &*found;
}

std::string_view ZipFile::PackedBytes(const ZipMember& member) const {
  const uint64_t size = content_.size();
  if (member.offset + kLocal_bytes > size || content_.substr(member.offset, 4) != "PK\x03\x04") {
    ThrowBadZip(source_, fmt::format("a damaged zip archive: '{}' is not where it should be", NameInMessage(member)));
  }
  const uint64_t begin = member.offset + kLocal_bytes + NumberAt(content_, member.offset + 26, 2) +
                         NumberAt(content_, member.offset + 28, 2);
  if (begin + member.packed_bytes > size) {
    ThrowBadZip(source_, fmt::format("a damaged zip archive: '{}' is cut off", NameInMessage(member)));
  }
  return content_.substr(begin, member.packed_bytes);
}

std::string_view ZipFile::ReadablePackedBytes(const ZipMember& member) const {
  constexpr uint32_t kEncrypted = 1;
  const std::string name = NameInMessage(member);
  if ((member.flags & kEncrypted) != 0) {
    throw Error(ErrorCode::kUnsupported, fmt::format("'{}' in it is encrypted", name),
                {.file = source_, .remedy = "Save the file without a password."});
  }
  if (member.method != kStored && member.method != kDeflated) {
    throw Error(ErrorCode::kUnsupported, fmt::format("'{}' in it is packed by method {}", name, member.method),
                {.file = source_, .remedy = "Save the file again by a spreadsheet program, or as CSV UTF-8."});
  }
  const std::string_view packed = PackedBytes(member);
  if (member.size_bytes > std::max(kUsualSize_bytes, kMostRatio * packed.size())) {
    ThrowBadZip(source_,
                fmt::format("'{}' in it says that {} unpack to {}, more than in any workbook", name,
                            BytesText(std::ssize(packed)), BytesText(static_cast<int64_t>(member.size_bytes))));
  }
  return packed;
}

void ZipFile::Read(const ZipMember& member, const std::function<void(std::string_view)>& sink) const {
  const std::string_view packed = ReadablePackedBytes(member);
  const std::string name = NameInMessage(member);
  const auto damaged = [&](std::string_view what) {
    ThrowBadZip(source_, fmt::format("a damaged zip archive: '{}' {}", name, what));
  };
  uint64_t size = 0;
  uLong sum = crc32(0, nullptr, 0);
  std::exception_ptr failed;
  const auto pass = [&](std::string_view piece) {
    size += piece.size();
    if (size > member.size_bytes) {
      damaged("holds more than it says");
    }
    if (!piece.empty()) {  // zlib takes NULL for the start of a new sum
      sum = crc32(sum, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size()));
    }
    if (failed != nullptr || piece.empty()) {
      return;
    }
    try {
      sink(piece);
    } catch (const Error& error) {  // which damage may explain
      if (error.code() != ErrorCode::kBadData) {
        throw;
      }
      failed = std::current_exception();
    }
  };
  bool whole = true;
  if (member.method == kStored) {
    pass(packed);
  } else {
    whole = Inflate(packed, pass);
  }
  if (!whole || size != member.size_bytes) {
    damaged("does not unpack to what it says");
  }
  if (sum != member.sum) {
    damaged("has another sum (CRC-32) than it says");
  }
  if (failed != nullptr) {
    std::rethrow_exception(failed);
  }
}

std::string ZipFile::ReadWhole(const ZipMember& member, uint64_t most_bytes) const {
  if (member.size_bytes > most_bytes) {
    ThrowBadZip(source_, fmt::format("'{}' in it has {}, more than in any workbook", NameInMessage(member),
                                     BytesText(static_cast<int64_t>(member.size_bytes))));
  }
  std::string whole;
  Read(member, [&](std::string_view piece) { whole += piece; });
  return whole;
}

}  // namespace lamina
