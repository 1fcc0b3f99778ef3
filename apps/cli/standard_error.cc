// The tone of messages.
#include "standard_error.h"

#include <string_view>

namespace lamina::cli {

void WriteToStderr(const std::string& text) {
  std::string toned = text;
  for (const auto& [start, tone] :
       {std::pair<std::string_view, Tone>{"lamina: error:", Tone::kError}, {"lamina: warning:", Tone::kWarning}}) {
    if (text.starts_with(start)) {
      toned = Toned(tone, start, stderr) + text.substr(start.size());
    }
  }
  std::fwrite(toned.data(), 1, toned.size(), stderr);
}

}  // namespace lamina::cli
