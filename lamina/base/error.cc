// Composes the text of an Error from its parts.
#include "lamina/base/error.h"

#include <fmt/format.h>

namespace lamina {
namespace {

std::string Compose(const std::string& message, const ErrorContext& context) {
  std::string text;
  if (!context.file.empty()) {
    text += context.file;
    if (context.line > 0) {
      text += fmt::format(":{}", context.line);
    }
    text += ": ";
  }
  if (!context.column.empty()) {
    text += fmt::format("column '{}': ", context.column);
  }
  text += message;
  if (!context.value.empty()) {
    text += fmt::format(": '{}'", context.value);
  }
  if (!context.remedy.empty()) {
    if (!text.empty() && text.back() != '.' && text.back() != '?') {
      text += '.';
    }
    text += ' ' + context.remedy;
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
