// Reading and writing JSON by hand.
#include "lamina/serve/json_cursor.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/utf8.h"

namespace lamina::serve {
namespace {

constexpr int kDeepest = 32;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(std::string& to, uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xC0 | code >> 6);
    to += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0 | code >> 12);
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    to += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    to += static_cast<char>(0xF0 | code >> 18);
    to += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    to += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

void JsonCursor::Fail(std::string_view what) const {
  throw Error(ErrorCode::kBadData, fmt::format("the request is no JSON that is understood: {} at byte {}", what, at_));
}

char JsonCursor::Next() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      return c;
    }
    ++at_;
  }
  return '\0';
}

JsonCursor::Kind JsonCursor::Peek() {
  const char c = Next();
  switch (c) {
    case '{': return Kind::kObject;
    case '[': return Kind::kArray;
    case '"': return Kind::kString;
    case 't':
    case 'f': return Kind::kBool;
    case 'n': return Kind::kNull;
    default: return c == '-' || c == 'N' || IsDigit(c) ? Kind::kNumber : Kind::kNone;
  }
}

void JsonCursor::Expect(char c) {
  if (Next() != c) {
    Fail(fmt::format("'{}' is missing", c));
  }
  ++at_;
}

void JsonCursor::Enter(char open) {
  if (Next() != open) {
    Fail(open == '[' ? "a list is wanted" : "an object is wanted");
  }
  ++at_;
  if (++depth_ > kDeepest) {
    Fail("too many lists and objects in one another");
  }
}

bool JsonCursor::Leaves(char close) {
  const bool leaves = Next() == close;
  at_ += leaves ? 1 : 0;
  return leaves;
}

bool JsonCursor::Continues(char close) {
  const char c = Next();
  if (c != ',' && c != close) {
    Fail(fmt::format("',' or '{}' is missing", close));
  }
  ++at_;
  return c == ',';
}

void JsonCursor::Word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) {
    Fail("a value is wanted");
  }
  at_ += word.size();
}

void JsonCursor::Null() {
  Next();
  Word("null");
}

bool JsonCursor::Bool() {
  const bool yes = Next() == 't';
  Word(yes ? "true" : "false");
  return yes;
}

size_t JsonCursor::EndOfNumber() const {
  size_t at = at_;
  const auto at_digit = [&] { return at < text_.size() && IsDigit(text_[at]); };
  const auto digits = [&] {
    if (!at_digit()) {
      Fail("a digit is missing");
    }
    while (at_digit()) {
      ++at;
    }
  };
  at += text_[at] == '-' ? 1 : 0;
  if (at < text_.size() && text_[at] == '0') {
    ++at;
  } else {
    digits();
  }
  if (at < text_.size() && text_[at] == '.') {
    ++at;
    digits();
  }
  if (at < text_.size() && (text_[at] == 'e' || text_[at] == 'E')) {
    ++at;
    at += at < text_.size() && (text_[at] == '+' || text_[at] == '-') ? 1 : 0;
    digits();
  }
  return at;
}

JsonNumber JsonCursor::Number() {
  if (JsonNumber number; ShortNumber(number)) {
    return number;
  }
  if (Peek() != Kind::kNumber) {
    Fail("a number is wanted");
  }
  const size_t begin = at_;
  if (text_[at_] == 'N') {
    Word("NaN");
    return {kNaN, text_.substr(begin, at_ - begin)};
  }
  const size_t end = EndOfNumber();
  JsonNumber number{0, text_.substr(begin, end - begin)};  // beyond the largest: infinite, which no column takes
  fast_float::from_chars(number.text.data(), number.text.data() + number.text.size(), number.value);
  at_ = end;
  return number;
}

uint32_t JsonCursor::Hex() {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < text_.size() ? AsciiLower(text_[at_]) : '\0';
    if (!IsDigit(c) && (c < 'a' || c > 'f')) {
      Fail("four digits are wanted behind \\u");
    }
    code = code << 4 | static_cast<uint32_t>(IsDigit(c) ? c - '0' : c - 'a' + 10);
  }
  return code;
}

void JsonCursor::AppendEscape(std::string& room) {
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (const size_t found = c == '\0' ? std::string_view::npos : kEscapes.find(c); found != std::string_view::npos) {
    room += kMeant[found];
    ++at_;
    return;
  }
  if (c != 'u') {
    Fail("an unknown escape");
  }
  ++at_;
  uint32_t code = Hex();
  if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    const uint32_t low = Hex();
    code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
  }
  if (code >= 0xD800 && code < 0xE000) {
    Fail("half a character behind \\u");
  }
  AppendUtf8(room, code);
}

std::string_view JsonCursor::String(std::string& room) {
  if (Next() != '"') {
    Fail("a text in quotes is wanted");
  }
  ++at_;
  size_t begin = at_;
  bool escapes = false;
  while (at_ < text_.size() && text_[at_] != '"') {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c < 0x20) {
      Fail("a control character in a text");
    }
    if (c == '\\') {
      if (!escapes) {
        room.clear();
      }
      escapes = true;
      room.append(text_.substr(begin, at_ - begin));
      ++at_;
      AppendEscape(room);
      begin = at_;
      continue;
    }
    const size_t length = c < 0x80 ? 1 : Utf8Length(text_, at_);
    if (length == 0) {
      Fail("a text that is no UTF-8");
    }
    at_ += length;
  }
  if (at_ >= text_.size()) {
    Fail("a text does not end");
  }
  const std::string_view rest = text_.substr(begin, at_ - begin);
  ++at_;
  if (!escapes) {
    return rest;
  }
  room.append(rest);
  return room;
}

void JsonCursor::Skip() {
  std::string room;
  switch (Peek()) {
    case Kind::kNull: return Null();
    case Kind::kBool: Bool(); return;
    case Kind::kNumber: Number(); return;
    case Kind::kString: String(room); return;
    case Kind::kArray: return Array([this] { Skip(); });
    case Kind::kObject: return Object([this](std::string_view) { Skip(); });
    case Kind::kNone: break;
  }
  Fail("a value is wanted");
}

void JsonCursor::End() {
  Next();
  if (at_ < text_.size()) {
    Fail("something stands behind the end");
  }
}

void AppendJsonString(std::string& to, std::string_view text) {
  to += '"';
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
      ++at;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<unsigned>(c));
      ++at;
    } else if (const size_t length = Utf8Length(text, at); length > 0) {
      to.append(text.substr(at, length));
      at += length;
    } else {
      to += "\xEF\xBF\xBD";
      ++at;
    }
  }
  to += '"';
}

void AppendJsonNumber(std::string& to, double value, bool exact) {
  if (!std::isfinite(value)) {
    to += "null";
  } else if (exact) {
    fmt::format_to(std::back_inserter(to), "{}", value);
  } else {
    fmt::format_to(std::back_inserter(to), "{:.9g}", value);
  }
}

}  // namespace lamina::serve
