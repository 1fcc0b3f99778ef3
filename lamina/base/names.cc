// The one error of a name that nothing has.
#include "lamina/base/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {

void ThrowUnknownName(std::string_view text, std::span<const std::string> known, std::string message) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message),
              {.value = std::string(text),
               .remedy = DidYouMean(text, known) + fmt::format("Known: {}.", fmt::join(known, ", "))});
}

size_t IndexOfName(std::string_view text, std::span<const std::string> known, std::string message) {
  const auto found = std::find(known.begin(), known.end(), text);
  if (found == known.end()) {
    ThrowUnknownName(text, known, std::move(message));
  }
  return static_cast<size_t>(found - known.begin());
}

}  // namespace lamina
