// Bytes as text of 64 digits, and back (RFC 4648).
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// With padding.
std::string ToBase64(std::string_view bytes);
/// What stands before the padding; empty where a letter is no digit.
std::string FromBase64(std::string_view text);

}  // namespace lamina
