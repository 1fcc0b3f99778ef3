// Text in other encodings than UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lamina::platform {

/// As UTF-8, U+FFFD in the place of what is no character; nothing where the system does not know the encoding.
std::optional<std::string> ToUtf8(std::string_view text, const std::string& encoding);

}  // namespace lamina::platform
