// zlib's CRC-32.
#include "lamina/base/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

namespace lamina {

std::string ChecksumOf(std::string_view text) {
  uLong sum = crc32(0, nullptr, 0);
  if (!text.empty()) {  // zlib takes NULL for the start of a new sum
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(text.data()), text.size());
  }
  return fmt::format("{:08x}", sum);
}

}  // namespace lamina
