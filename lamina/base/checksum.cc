// CRC-32 by zlib.
#include "lamina/base/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

namespace lamina {

uint32_t Crc32(uint32_t sum, std::string_view text) {
  // zlib takes NULL for the start of a new sum
  return text.empty() ? sum
                      : static_cast<uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

std::string ChecksumOf(std::string_view text) { return fmt::format("{:08x}", Crc32(0, text)); }

}  // namespace lamina
