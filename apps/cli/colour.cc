// Escape sequences of ECMA-48.
#include "colour.h"

#include <fmt/format.h>

#include <cstdlib>

#include "lamina/platform/process.h"

namespace lamina::cli {
namespace {

bool HasColours(std::FILE* stream) {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') &&
         platform::ShowsColours(stream == stderr ? platform::kStandardError : platform::kStandardOutput);
}

std::string_view CodeOf(Tone tone) {
  switch (tone) {
    case Tone::kError: return "1;31";
    case Tone::kWarning: return "1;33";
    case Tone::kNote: return "36";
    case Tone::kHeading: return "1";
  }
  return "0";
}

}  // namespace

OwnText Toned(Tone tone, std::string_view text, std::FILE* stream) {
  return {HasColours(stream) ? fmt::format("\033[{}m{}\033[0m", CodeOf(tone), text) : std::string(text)};
}

}  // namespace lamina::cli
