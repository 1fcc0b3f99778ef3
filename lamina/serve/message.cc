// Queries, types and refusals.
#include "lamina/serve/message.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lamina/base/text.h"
#include "lamina/base/utf8.h"
#include "lamina/serve/json_cursor.h"

namespace lamina::serve {
namespace {

int HexDigit(char c) {
  c = AsciiLower(c);
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::string> FindInQuery(std::string_view query, std::string_view name) {
  for (const std::string_view part : SplitText(query, '&')) {
    const size_t equals = part.find('=');
    if (Unescaped(part.substr(0, equals), true) == name && !part.empty()) {
      return equals == std::string_view::npos ? "" : Unescaped(part.substr(equals + 1), true);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Unescaped(std::string_view text, bool plus) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0) {
      plain += static_cast<char>(16 * HexDigit(text[i + 1]) + HexDigit(text[i + 2]));
      i += 2;
    } else {
      plain += plus && text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

std::string QueryValue(std::string_view query, std::string_view name) { return FindInQuery(query, name).value_or(""); }

bool QueryFlag(std::string_view query, std::string_view name) {
  const std::optional<std::string> value = FindInQuery(query, name);
  return value && (value->empty() || *value == "1" || *value == "true" || *value == "yes");
}

bool IsType(std::string_view type, std::string_view wanted) {
  const std::string_view bare = Trim(type.substr(0, type.find(';')));
  return std::ranges::equal(bare, wanted, [](char a, char b) { return AsciiLower(a) == b; });
}

Response Refusal(int status, std::string_view words) {
  Response response{.status = status};
  response.body = "{\"error\":";
  AppendJsonString(response.body, words);
  response.body += "}";
  return response;
}

std::string_view StatusText(int status) {
  constexpr std::pair<int, std::string_view> kTexts[] = {{200, "OK"},
                                                         {400, "Bad Request"},
                                                         {401, "Unauthorized"},
                                                         {404, "Not Found"},
                                                         {405, "Method Not Allowed"},
                                                         {408, "Request Timeout"},
                                                         {413, "Content Too Large"},
                                                         {415, "Unsupported Media Type"},
                                                         {429, "Too Many Requests"},
                                                         {431, "Request Header Fields Too Large"},
                                                         {500, "Internal Server Error"},
                                                         {501, "Not Implemented"},
                                                         {503, "Service Unavailable"},
                                                         {505, "HTTP Version Not Supported"}};
  for (const auto& [known, text] : kTexts) {
    if (known == status) {
      return text;
    }
  }
  return "Unknown";
}

}  // namespace lamina::serve
