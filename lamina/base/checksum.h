// The checksum of lamina's files: it finds damage, not forgery.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lamina {

/// CRC-32 (of zlib): of what `sum` is the checksum of (0: nothing), and of `text` behind it.
uint32_t Crc32(uint32_t sum, std::string_view text);

/// The same of one text, as 8 hexadecimal digits.
std::string ChecksumOf(std::string_view text);

}  // namespace lamina
