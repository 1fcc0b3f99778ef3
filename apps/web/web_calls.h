// What the page asks of the library: a request and its answer are objects of JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace lamina::web {

/// The answer to {"do": NAME, ...}; for every NAME a row of the table in web_calls.cc. Throws Error, and JSON's own
/// exceptions for a request that is no such.
nlohmann::json Answer(const nlohmann::json& request);

}  // namespace lamina::web
