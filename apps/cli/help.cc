// Help texts that fit a terminal.
#include "help.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "colour.h"
#include "lamina/base/text.h"

namespace lamina::cli {
namespace {

constexpr size_t kNameColumns = 34;
constexpr size_t kTextColumns = 78;
constexpr size_t kShortNameColumns = 28;
constexpr size_t kShortExamples = 4;  // lines, with their title

std::map<const CLI::Option*, FlagFacts>& FactsOfFlags() {
  static std::map<const CLI::Option*, FlagFacts> facts;
  return facts;
}

// What is known of a flag; empty where it is not described.
const FlagFacts& FactsOf(const CLI::Option* option) {
  static const FlagFacts none;
  const auto found = FactsOfFlags().find(option);
  return found == FactsOfFlags().end() ? none : found->second;
}

// Settings first, then what is the command's own, then several computers.
int PlaceOf(const std::string& group) {
  const bool own = group == "Options" || group == "OPTIONS";
  return group == kComputersGroup ? 2 : own ? 1 : 0;
}

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

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const std::string rows = ShortRows(app);
    if (mode == CLI::AppFormatMode::Normal && !rows.empty()) {
      return ShortHelp(app, name, rows);
    }
    return make_description(app) + make_usage(app, name) + make_positionals(app) + Groups(app) +
           make_subcommands(app, CLI::AppFormatMode::Normal) + "\n" + make_footer(app);
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    return CLI::Formatter::make_group(Toned(Tone::kHeading, group, stdout).text, is_positional, std::move(options));
  }

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

 private:
  // All flags, by group.
  std::string Groups(const CLI::App* app) const {
    std::vector<std::string> groups = app->get_groups();
    std::stable_sort(groups.begin(), groups.end(),
                     [](const std::string& a, const std::string& b) { return PlaceOf(a) < PlaceOf(b); });
    std::string text;
    for (const std::string& group : groups) {
      const std::vector<const CLI::Option*> options = app->get_options([&](const CLI::Option* option) {
        return !group.empty() && option->get_group() == group && option->nonpositional();
      });
      text += options.empty() ? "" : make_group(group, false, options);
    }
    return text;
  }

  std::string ShortRows(const CLI::App* app) const {
    std::string rows;
    for (const CLI::Option* option : app->get_options({})) {
      const std::string& text = FactsOf(option).in_short;
      if (!text.empty()) {
        const std::string type = option->get_type_name();
        rows += fmt::format("  {:<{}}{}\n", make_option_name(option, false) + (type.empty() ? "" : " " + type),
                            kShortNameColumns, text);
      }
    }
    return rows;
  }

  std::string ShortHelp(const CLI::App* app, const std::string& name, const std::string& rows) const {
    std::string examples = app->get_footer();
    size_t end = 0;
    for (size_t line = 0; line < kShortExamples && end != std::string::npos; ++line) {
      end = examples.find('\n', end == 0 ? 0 : end + 1);
    }
    examples.resize(std::min(examples.size(), end));
    std::string path = app->get_name();
    for (const CLI::App* parent = app->get_parent(); parent != nullptr; parent = parent->get_parent()) {
      path = parent->get_name() + " " + path;
    }
    return fmt::format("{}{}\n{}\n{}\n\n{} --help shows all {} flags.\n", make_description(app), make_usage(app, name),
                       rows, examples, path, app->get_options({}).size());
  }
};

void AddChoices(const CLI::App& app, const std::string& path, std::string& text) {
  for (const CLI::Option* option : app.get_options({})) {
    const FlagFacts& facts = FactsOf(option);
    if (!facts.choices.empty()) {
      text += fmt::format("{}--{} {}\n", path, option->get_lnames().front(), fmt::join(facts.choices, " "));
    }
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    AddChoices(*command, path + command->get_name() + " ", text);
  }
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() { return std::make_shared<HelpFormatter>(); }

void Describe(const CLI::Option* option, FlagFacts facts) { FactsOfFlags()[option] = std::move(facts); }

std::string ChoicesText(const CLI::App& app) {
  std::string text;
  AddChoices(app, "", text);
  return text;
}

}  // namespace lamina::cli
