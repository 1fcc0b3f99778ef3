// SHA-256 (FIPS 180-4), to check downloaded files. Not meant for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lamina {

/// Feed with Update(), then take HexDigest() once.
class Sha256 {
 public:
  void Update(const void* data, size_t size_bytes);
  void Update(std::string_view text) { Update(text.data(), text.size()); }
  /// 64 lower-case hexadecimal digits. Ends the message: no Update() after it.
  std::string HexDigest();

 private:
  void Block(const uint8_t* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_bytes_ = 0;
  uint64_t total_bytes_ = 0;
};

/// Digest of the file's content, read in pieces. Throws Error(kNotFound) or Error(kIo).
std::string Sha256OfFile(const std::string& path);

}  // namespace lamina
