// JSON from files that may be damaged or hostile.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lamina {

/// `text` of file `source` as JSON. Throws Error(kBadModel) for what is no JSON, or nested deeper than any file of
/// lamina. nlohmann copies and prints values recursively: a million brackets would overflow the stack.
nlohmann::json ParseUntrustedJson(std::string_view text, const std::string& source);

/// `node`, an object, with a checksum of all that it says, under the key "crc32".
nlohmann::json Sealed(nlohmann::json node);
/// Takes the checksum out again; false where the rest does not fit it. True without one, as earlier versions wrote it.
bool Unseal(nlohmann::json& node);

/// node[name], a whole number without a fraction. Throws Error(kBadModel) naming it.
int64_t IntegerAt(const nlohmann::json& node, const char* name);

}  // namespace lamina
