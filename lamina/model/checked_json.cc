// Bounded parsing and strict numbers.
#include "lamina/model/checked_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {

using nlohmann::json;

json ParseUntrustedJson(std::string_view text, const std::string& source) {
  constexpr int kMaxDepth = 100;
  const auto limit_depth = [&](int depth, json::parse_event_t, json&) {
    if (depth > kMaxDepth) {
      throw Error(ErrorCode::kBadModel, fmt::format("JSON nested deeper than {} levels", kMaxDepth),
                  {.file = source, .remedy = "The file is damaged or not a lamina model."});
    }
    return true;
  };
  try {
    return json::parse(text, limit_depth);
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("the header is not JSON: {}", WithoutTag(error.what())),
                {.file = source, .remedy = "The file is damaged or not a lamina model."});
  }
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
