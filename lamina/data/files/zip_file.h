// Zip archives in memory: what is in them, and their members, checked. Private to the readers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

struct ZipMember {
  std::string name;  // with '/' between folders
  uint32_t flags = 0;
  uint32_t method = 0;
  uint32_t sum = 0;  // CRC-32 of the content
  uint64_t packed_bytes = 0;
  uint64_t size_bytes = 0;
  uint64_t offset = 0;  // of its local header
};

/// The archive's own list of members tells what there is. Stored and deflated members are read.
class ZipFile {
 public:
  /// `content` outlives the object. Throws Error(kBadData) for what is damaged, Error(kUnsupported) for zip64.
  ZipFile(std::string_view content, const std::string& source);

  const std::vector<ZipMember>& members() const { return members_; }
  const std::string& source() const { return source_; }
  /// Capital letters do not matter; null where there is none.
  const ZipMember* Find(std::string_view name) const;

  /// `sink` gets the content piece by piece. An Error(kBadData) that it throws comes only after the rest was seen to be
  /// undamaged. Throws Error(kBadData), also for a member that unpacks to more than any book does, and
  /// Error(kUnsupported) for encrypted ones and other methods.
  void Read(const ZipMember& member, const std::function<void(std::string_view)>& sink) const;
  /// The whole content, at most `most_bytes`. Throws like Read.
  std::string ReadWhole(const ZipMember& member, uint64_t most_bytes) const;

 private:
  std::string_view PackedBytes(const ZipMember& member) const;
  // The same, of a member that can be unpacked; throws for another one.
  std::string_view ReadablePackedBytes(const ZipMember& member) const;

  std::string_view content_;
  std::string source_;
  std::vector<ZipMember> members_;
};

}  // namespace lamina
