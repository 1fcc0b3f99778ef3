// Text on its way to the terminal.
#include "print.h"

#include "lamina/platform/process.h"

namespace lamina::cli {

OwnText Lines(std::string_view text) {
  OwnText lines;
  for (const std::string_view line : SplitText(text, '\n')) {
    lines.text += (line.data() == text.data() ? "" : "\n") + WithoutControls(line);
  }
  return lines;
}

std::string Cell(std::string_view name) { return Excerpt(WithoutControls(name)); }

void PrintData(const std::string& text) {
  if (platform::IsTerminal(platform::kStandardOutput)) {
    Print("{}", Lines(text));
  } else {
    fmt::print("{}", text);
  }
}

void PrintProgress(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void WriteToStderr(const std::string& text) {
  std::string toned = text;
  for (const auto& [start, tone] :
       {std::pair<std::string_view, Tone>{"lamina: error:", Tone::kError}, {"lamina: warning:", Tone::kWarning}}) {
    if (text.starts_with(start)) {
      toned = Toned(tone, start, stderr).text + text.substr(start.size());
    }
  }
  std::fwrite(toned.data(), 1, toned.size(), stderr);
}

}  // namespace lamina::cli
