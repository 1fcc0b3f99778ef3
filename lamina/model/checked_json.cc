// Bounded parsing and strict numbers.
#include "lamina/model/checked_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "lamina/base/checksum.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {

using nlohmann::json;

namespace {
constexpr const char* kDamaged = "The file is damaged or not a lamina model.";
constexpr const char* kSeal = "crc32";

// Keys in their order, numbers by the digits that read back to them: the same for what was written and what is read.
std::string SealOf(const json& node) { return ChecksumOf(node.dump(-1, ' ', false, json::error_handler_t::replace)); }
}  // namespace

json ParseUntrustedJson(std::string_view text, const std::string& source) {
  constexpr int kMaxDepth = 100;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw Error(ErrorCode::kBadModel, "the header has a key twice",
                  {.file = source, .value = parsed.get<std::string>(), .remedy = kDamaged});
    }
    if (depth > kMaxDepth) {
      throw Error(ErrorCode::kBadModel, fmt::format("JSON nested deeper than {} levels", kMaxDepth),
                  {.file = source, .remedy = kDamaged});
    }
    return true;
  };
  if (text.find('\0') != std::string_view::npos) {  // the parser takes one for the end
    throw Error(ErrorCode::kBadModel, "it is not JSON: it holds NUL bytes", {.file = source, .remedy = kDamaged});
  }
  try {
    return json::parse(text, check);
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("it is not JSON: {}", WithoutTag(error.what())),
                {.file = source, .remedy = kDamaged});
  }
}

json Sealed(json node) {
  node[kSeal] = SealOf(node);
  return node;
}

bool Unseal(json& node) {
  if (!node.is_object() || !node.contains(kSeal)) {
    return true;
  }
  const json seal = node[kSeal];
  node.erase(kSeal);
  return seal == SealOf(node);
}

int64_t IntegerAt(const json& node, const char* name) {
  const json& value = node.at(name);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > std::numeric_limits<int64_t>::max())) {
    throw Error(ErrorCode::kBadModel, fmt::format("{} is not a whole number", name), {.value = value.dump()});
  }
  return value.get<int64_t>();
}

}  // namespace lamina
