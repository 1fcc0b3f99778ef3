// The program "lamina": commands, errors and exit codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <vector>

#include "apps/limit_spinning.h"
#include "command.h"
#include "help.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"

namespace lamina::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  lamina train --data data/digits.csv.gz --hidden 64 --model digits.safetensors\n"
    "  lamina evaluate --model digits.safetensors --data data/digits.csv.gz\n"
    "  lamina predict --model digits.safetensors --data new.csv --out answers.csv\n"
    "  lamina layer --x x.npy --w centres.npy --neuron rbf --radius 12 --out h.npy\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted (checkpoint kept).";

std::string VersionText() {
  std::string text = "lamina " + Version();
  for (const std::string& line : BuildOptions()) {
    text += "\n  " + line;
  }
  return text;
}

int PrintError(std::string message, int code) {
  for (char& c : message) {  // may quote a damaged file, which must not steer the terminal
    c = static_cast<unsigned char>(c) < ' ' && c != '\n' ? '?' : c;
  }
  fmt::print(stderr, "lamina: error: {}\n", message);
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

// CLI11 says which argument it did not expect; add the nearest one that exists.
int PrintUsageError(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  std::string path;
  const CLI::App* command = NamedCommand(app, path);
  std::string message = error.what();
  const bool wants_command = command->get_require_subcommand_min() > 0;
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string named = path + " ";
  for (int i = 1; i < argc && (wants_command || extras); ++i) {
    const std::string word(SplitText(argv[i], '=')[0]);
    const bool flag = word.starts_with("--");
    const std::vector<std::string> known = KnownWords(*command, flag);
    if (flag ? message.find(word) == std::string::npos || std::find(known.begin(), known.end(), word) != known.end()
             : !wants_command || named.find(" " + word + " ") != std::string::npos) {
      continue;
    }
    message = flag ? message + ". " + DidYouMean(word, known)
                   : fmt::format("unknown command: '{}'. {}", word, DidYouMean(word, known));
    break;
  }
  fmt::print(stderr, "lamina: error: {}\nTry '{} --help'.\n", Trim(message), path);
  return kExitUsage;
}

// A closed standard stream must not become the descriptor of a file that is opened later: what is printed would land
// in it. Opened for reading, so that writing still fails.
void OccupyStandardStreams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0) {
      open("/dev/null", O_RDONLY);
    }
  }
}

// Output that never arrived (a full disk, a closed pipe) is a failure.
int CheckOutput(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) {
    return code;
  }
  return code == kExitOk ? PrintError("cannot write to standard output", kExitFailure) : code;
}

int Main(int argc, const char* const* argv) {
  CLI::App app("lamina computes and trains neural layers at the speed of the hardware.", "lamina");
  app.set_version_flag("--version", VersionText(), "Print the version and the build options");
  app.set_help_flag("-h,--help", "Print this help");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.formatter(MakeHelpFormatter());
  std::vector<Command> commands;
  try {
    commands = {AddTrain(app, argc, argv),
                AddSearch(app, argc, argv),
                AddEvaluate(app),
                AddPredict(app),
                AddLayer(app, argc, argv),
                AddNeighbours(app),
                AddCentres(app),
                AddDevices(app),
                AddData(app),
                AddTune(app),
                AddBench(app),
                AddExport(app)};
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
  lamina::LimitSpinning(argv);
  std::signal(SIGXFSZ, SIG_IGN);  // a file larger than allowed is an error of the write, not the end of the process
  lamina::cli::OccupyStandardStreams();
  return lamina::cli::CheckOutput(lamina::cli::Main(argc, argv));
}
