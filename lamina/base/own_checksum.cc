// CRC-32 without zlib, for the predict library: eight bytes at a time, by eight tables.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "lamina/base/checksum.h"

namespace lamina {
namespace {

using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b]: what a byte b that k bytes follow adds to the sum. Made when they are needed: 8 KiB less of the
// library.
CrcTables MakeCrcTables() {
  constexpr uint32_t kPolynomial = 0xEDB88320U;
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) {
      sum = sum >> 1U ^ ((sum & 1U) != 0 ? kPolynomial : 0U);
    }
    tables[0][byte] = sum;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (size_t k = 1; k < tables.size(); ++k) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8U ^ tables[0][before & 255U];
    }
  }
  return tables;
}

}  // namespace

uint32_t Crc32(uint32_t sum, std::string_view text) {
  static_assert(std::endian::native == std::endian::little);
  static const CrcTables tables = MakeCrcTables();
  uint64_t crc = ~sum;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) {
      crc ^= tables[7 - k][word >> 8 * k & 255U];
    }
  }
  for (; left > 0; ++at, --left) {
    crc = crc >> 8U ^ tables[0][(crc ^ static_cast<unsigned char>(*at)) & 255U];
  }
  return ~static_cast<uint32_t>(crc);
}

std::string ChecksumOf(std::string_view text) { return fmt::format("{:08x}", Crc32(0, text)); }

}  // namespace lamina
