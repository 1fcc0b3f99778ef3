// The program "lamina". Signals and streams are prepared first, then flags are made of the command that is named, and
// it runs. Errors become one line and an exit code. What a command does is in its own file, and the library does the
// work.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/limit_spinning.h"
#include "command.h"
#include "help.h"
#include "lamina/base/error.h"
#include "lamina/base/mapped_file.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/platform/file.h"
#include "lamina/platform/process.h"
#include "lamina/settings/removed_settings.h"
#include "print.h"
#include "ranks.h"

namespace lamina::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  lamina train data/digits.csv.gz --model digits.safetensors\n"
    "  lamina model show digits.safetensors\n"
    "  lamina predict digits.safetensors new.csv --out answers.csv\n"
    "  lamina layer --x x.npy --w centres.npy --neuron rbf --radius 12 --out h.npy\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted (checkpoint kept).";

constexpr const char* kOutOfMemory = "lamina: error: out of memory\n";

std::string VersionText() {
  std::string text = "lamina " + Version();
  for (const std::string& line : BuildOptions()) {
    text += "\n  " + line;
  }
  return text;
}

int PrintError(std::string message, int code) {
  message = ErrorOfRanks(message);
  if (message.empty()) {
    return code;
  }
  PrintToStderr("lamina: error: {}\n", message);
  EndRanks(code);
  return code;
}

// "train" or "data fetch": the command that the arguments named before they went wrong.
const CLI::App* NamedCommand(const CLI::App& app, std::string& path) {
  const CLI::App* command = &app;
  path = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  return command;
}

// What the command knows: its flags, or where it needs one its subcommands.
std::vector<std::string> KnownWords(const CLI::App& command, bool flags) {
  std::vector<std::string> names;
  if (flags) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
    return names;
  }
  for (const CLI::App* sub : command.get_subcommands({})) {
    names.push_back(sub->get_name());
  }
  return names;
}

// Flags of other programs for what lamina has not: said, before a flag of similar letters is offered.
constexpr std::pair<std::string_view, std::string_view> kNotThere[] = {
    {"--cv", "Cross-validation is train --folds 5. "}, {"--k-fold", "Cross-validation is train --folds 5. "}};

std::string Meant(const std::string& word, const std::vector<std::string>& known) {
  for (const auto& [flag, text] : kNotThere) {
    if (word == flag) {
      return std::string(text);
    }
  }
  if (const RemovedSetting* removed = FindRemoved(word.substr(2))) {
    return fmt::format("{}. {}", removed->Text(), removed->instead);
  }
  return DidYouMean(word, known);
}

// What nobody expected, as it was written: CLI11's own message has it from the last to the first.
std::string ExtrasText(const CLI::App& command, const char* message) {
  const std::vector<std::string> extras = command.remaining();
  return extras.size() < 2 ? message : fmt::format("unexpected arguments: {}", fmt::join(extras, " "));
}

// CLI11 says which argument it did not expect; add the nearest one that exists.
int PrintUsageError(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  std::string path;
  const CLI::App* command = NamedCommand(app, path);
  const bool wants_command = command->get_require_subcommand_min() > 0;
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  std::string message = extras ? ExtrasText(*command, error.what()) : error.what();
  const std::string named = path + " ";
  for (int i = 1; i < argc && (wants_command || extras); ++i) {
    const std::string word(SplitText(argv[i], '=')[0]);
    const bool flag = word.starts_with("--");
    const std::vector<std::string> known = KnownWords(*command, flag);
    const bool told = message.find(word) != std::string::npos;
    if (flag ? (extras && !told) || std::find(known.begin(), known.end(), word) != known.end()
             : !wants_command || named.find(" " + word + " ") != std::string::npos) {
      continue;
    }
    message = !flag  ? fmt::format("unknown command: '{}'. {}", word, DidYouMean(word, known))
              : told ? message + ". " + Meant(word, known)
                     : fmt::format("unknown flag: '{}'. {}", word, Meant(word, known));
    break;
  }
  if (SpeaksForAll()) {
    PrintToStderr("lamina: error: {}\nTry '{} --help'.\n", Trim(message), path);
    EndRanks(kExitUsage);
  } else {
    LetFirstSpeak();
  }
  return kExitUsage;
}

// An input that is mapped and cut short by somebody cannot be read on.
void ReportCutFile(const void* address) {
  const char* path = MappedFileAt(address);
  if (path == nullptr) {
    platform::LeaveCutMapping();
    return;
  }
  RemovePartFiles();
  const auto say = [](const char* text) {
    if (platform::Write(platform::kStandardError, text, std::strlen(text)) < 0) {  // nobody listens
    }
  };
  say("lamina: error: ");
  say(path);
  say(": was cut short while it was read. Run the command again when nothing else writes that file.\n");
  platform::EndNow(kExitFailure);
}

// Who reads the output has gone: the process ends as usual, and leaves no part or lock.
void EndWithoutReader(int signal) {
  RemovePartFiles();
  platform::EndBySignal(signal);
}

// Parts of the libraries promise not to throw and allocate all the same: no memory ends the process there.
std::terminate_handler usual_terminate = nullptr;
void TerminateWithoutMemory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) {
      std::rethrow_exception(thrown);
    }
  } catch (const std::bad_alloc&) {
    RemovePartFiles();
    std::fputs(kOutOfMemory, stderr);
    platform::EndNow(kExitFailure);
  } catch (...) {
  }
  usual_terminate();
}

// Output that never arrived (a full disk, a closed pipe) is a failure.
int CheckOutput(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) {
    return code;
  }
  return code == kExitOk ? PrintError("cannot write to standard output", kExitFailure) : code;
}

// `lamina` and `lamina help` ask for the help, `lamina help train` for that of a command.
std::vector<const char*> WithHelpFlag(const std::vector<std::string>& given) {
  std::vector<const char*> words;
  std::ranges::transform(given, std::back_inserter(words), &std::string::c_str);
  if (words.size() == 1) {
    words.push_back("--help");
  } else if (std::string_view(words[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  return words;
}

using AddCommand = Command (*)(CLI::App&, int, const char* const*);
template <Command (*kAdd)(CLI::App&)>
Command AddWithoutWords(CLI::App& app, int, const char* const*) {
  return kAdd(app);
}

struct NamedAdd {
  std::string_view name;
  AddCommand add;
};

constexpr NamedAdd kCommands[] = {{"train", &AddTrain},
                                  {"search", &AddSearch},
                                  {"evaluate", &AddWithoutWords<&AddEvaluate>},
                                  {"predict", &AddWithoutWords<&AddPredict>},
                                  {"compare", &AddWithoutWords<&AddCompare>},
                                  {"distill", &AddWithoutWords<&AddDistill>},
                                  {"explain", &AddWithoutWords<&AddExplain>},
                                  {"drift", &AddWithoutWords<&AddDrift>},
                                  {"layer", &AddLayer},
                                  {"neighbours", &AddWithoutWords<&AddNeighbours>},
                                  {"centres", &AddWithoutWords<&AddCentres>},
                                  {"devices", &AddWithoutWords<&AddDevices>},
                                  {"data", &AddWithoutWords<&AddData>},
                                  {"tune", &AddWithoutWords<&AddTune>},
                                  {"bench", &AddWithoutWords<&AddBench>},
                                  {"model", &AddWithoutWords<&AddModel>},
                                  {"export", &AddWithoutWords<&AddExport>},
                                  {"serve", &AddWithoutWords<&AddServe>}};

// The command that the arguments name, alone: making the flags of all takes longer than most answers. All where they
// name none of them.
std::vector<Command> AddCommands(CLI::App& app, int argc, const char* const* argv) {
  const std::string_view named = argc > 1 ? argv[1] : "";
  const bool known = std::ranges::find(kCommands, named, &NamedAdd::name) != std::end(kCommands);
  std::vector<Command> commands;
  for (const NamedAdd& each : kCommands) {
    if (!known || each.name == named) {
      commands.push_back(each.add(app, argc, argv));
    }
  }
  return commands;
}

int Main(int argc, const char* const* argv) {
  CLI::App app("lamina computes and trains neural layers at the speed of the hardware.", "lamina");
  app.allow_windows_style_options(false);  // "/data/table.csv" is a file there, too
  app.set_version_flag("--version", VersionText(), "Print the version and the build options");
  app.set_help_flag("-h", "Print the flags that most people use");
  app.set_help_all_flag("--help", "Print all flags");

  app.footer(kFooter);
  app.require_subcommand(1);
  app.formatter(MakeHelpFormatter());
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--version") {  // before all flags of all commands are made
      PrintData(VersionText() + "\n");
      return kExitOk;
    }
    const std::vector<Command> commands = AddCommands(app, argc, argv);
    if (argc == 2 && std::string_view(argv[1]) == "--choices") {  // for scripts/help_files
      PrintData(ChoicesText(app));
      return kExitOk;
    }
    app.parse(argc, argv);
    for (const Command& command : commands) {
      if (command.app->parsed()) {
        return command.run();
      }
    }
    return kExitUsage;
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return PrintUsageError(app, error, argc, argv);
  } catch (const Error& error) {
    return PrintError(error.what(), error.code() == ErrorCode::kInvalidArgument ? kExitUsage : kExitFailure);
  } catch (const std::bad_alloc&) {
    return PrintError("out of memory. Use fewer samples or a smaller network.", kExitFailure);
  } catch (const std::exception& error) {
    return PrintError(std::ferror(stdout) != 0 ? fmt::format("standard output: {}", error.what()) : error.what(),
                      kExitFailure);
  }
}

}  // namespace
}  // namespace lamina::cli

int main(int argc, char** argv) {
  try {
    lamina::LimitSpinning();
    lamina::platform::IgnoreFileSizeLimit();
    lamina::platform::PrepareStandardStreams();
    lamina::platform::OnCutMapping(lamina::cli::ReportCutFile);
    lamina::platform::OnBrokenPipe(lamina::cli::EndWithoutReader);
    lamina::cli::usual_terminate = std::set_terminate(lamina::cli::TerminateWithoutMemory);
    const std::vector<std::string> given = lamina::platform::WordsOfProgram(argc, argv);
    const std::vector<const char*> words = lamina::cli::WithHelpFlag(given);
    const int code = lamina::cli::CheckOutput(lamina::cli::Main(static_cast<int>(words.size()), words.data()));
    lamina::cli::LeaveRanks();
    return code;
  } catch (const std::bad_alloc&) {  // before a command began, or for the text of another error
    std::fputs(lamina::cli::kOutOfMemory, stderr);
    return lamina::cli::kExitFailure;
  }
}
