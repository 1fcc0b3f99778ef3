// The addresses of the service, once: for routes and for their description.
#pragma once

#include <span>
#include <string_view>

#include "lamina/serve/counters.h"

namespace lamina::serve {

struct RouteRow {
  std::string_view id;
  std::string_view method;
  std::string_view path;  // {model} and {version} stand for a part
  Endpoint endpoint;
  bool open;  // without the token
  std::string_view summary;
  std::string_view body;    // the schema of a request: "" none
  std::string_view answer;  // of its answer; "" a text
};
std::span<const RouteRow> RouteRows();
/// By its id.
const RouteRow& RouteOf(std::string_view id);

}  // namespace lamina::serve
