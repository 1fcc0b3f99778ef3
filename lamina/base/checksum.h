// The checksum of lamina's files: it finds damage, not forgery.
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// CRC-32 (of zlib) of `text` as eight hexadecimal digits.
std::string ChecksumOf(std::string_view text);

}  // namespace lamina
