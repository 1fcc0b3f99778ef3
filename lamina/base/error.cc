// Composes the text of an Error from its parts.
#include "lamina/base/error.h"

#include <fmt/format.h>

#include "lamina/base/text.h"
#include "lamina/base/utf8.h"

namespace lamina {
namespace {

constexpr size_t kMostQuoted_bytes = 200;
constexpr size_t kMostSaid_bytes = 1500;  // of a message or a remedy, which may name columns

// The first `most` bytes of `text`, or less, in whole characters of UTF-8 and without control characters: one line.
std::string OneLine(const std::string& text, size_t most) {
  return WithoutControls(std::string_view(text).substr(0, Utf8Fit(text, most)));
}

// What a message quotes may come from a damaged file: of a length that can be read.
std::string Quoted(const std::string& text) {
  return "'" + OneLine(text, kMostQuoted_bytes) +
         (text.size() > kMostQuoted_bytes ? fmt::format("' ... ({} bytes)", text.size()) : "'");
}

// Words around what may come from one, too.
std::string Said(const std::string& text) {
  return OneLine(text, kMostSaid_bytes) + (text.size() > kMostSaid_bytes ? " ..." : "");
}

std::string Compose(const std::string& message, const ErrorContext& context) {
  std::string text;
  if (!context.file.empty()) {
    text += WithoutControls(context.file);
    if (context.line > 0) {
      text += fmt::format(":{}", context.line);
    }
    text += ": ";
  }
  if (!context.column.empty()) {
    text += fmt::format("column {}: ", Quoted(context.column));
  }
  text += Said(message);
  if (!context.value.empty()) {
    text += ": " + Quoted(context.value);
  }
  if (!context.remedy.empty()) {
    if (!text.empty() && text.back() != '.' && text.back() != '?') {
      text += '.';
    }
    text += ' ' + Said(context.remedy);
  }
  return text;
}

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kBadData: return "bad_data";
    case ErrorCode::kBadModel: return "bad_model";
    case ErrorCode::kDiverged: return "diverged";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kResource: return "resource";
    case ErrorCode::kNetwork: return "network";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string message, ErrorContext context)
    : std::runtime_error(Compose(message, context)),
      code_(code),
      message_(std::move(message)),
      context_(std::move(context)) {}

}  // namespace lamina
