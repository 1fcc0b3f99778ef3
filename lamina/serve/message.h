// A request and its response, without the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lamina::serve {

/// Views that live as long as the request does.
struct Request {
  std::string_view method;
  std::string_view path;   // without the query
  std::string_view query;  // behind '?'
  std::string_view content_type;
  std::string_view accept;
  std::string_view authorization;
  std::string_view header_length;  // Inference-Header-Content-Length; empty: none
  std::string_view body;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string headers;  // further lines, each with its end
  std::string body;
};

/// The value of `name` in a query, its escapes resolved; "" where it is not there.
std::string QueryValue(std::string_view query, std::string_view name);
/// %41 as A, and where `plus` + as a blank.
std::string Unescaped(std::string_view text, bool plus);
/// Whether a query or JSON says yes: "1", "true", "yes" or nothing behind the name.
bool QueryFlag(std::string_view query, std::string_view name);
/// Whether `type` (a Content-Type) is `wanted`, its parameters left aside, small letters or not.
bool IsType(std::string_view type, std::string_view wanted);

/// {"error": words}.
Response Refusal(int status, std::string_view words);
/// The reason phrase of a status.
std::string_view StatusText(int status);

}  // namespace lamina::serve
