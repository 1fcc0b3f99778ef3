// Help texts that fit a terminal.
#include "help.h"

#include "lamina/base/text.h"

namespace lamina::cli {
namespace {

constexpr size_t kNameColumns = 34;
constexpr size_t kTextColumns = 78;

std::string Wrap(const std::string& text) {
  std::string wrapped;
  size_t column = 0;
  for (const std::string_view word : SplitText(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > kTextColumns) {
      wrapped += '\n';
      column = 0;
    }
    wrapped += (column > 0 ? " " : "") + std::string(word);
    column += word.size() + (column > 0 ? 1 : 0);
  }
  return wrapped;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kNameColumns); }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    const size_t suffix = name.find("{false}");  // CLI11's mark of --no-x
    return suffix == std::string::npos ? name : name.substr(0, suffix);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    if (text.ends_with(" ...")) {  // lists say A,B,... already
      text.resize(text.size() - 4);
    }
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return Wrap(CLI::Formatter::make_option_desc(option));
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace lamina::cli
