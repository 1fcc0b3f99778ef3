// The program "lamina": commands, errors and exit codes.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <vector>

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
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted (checkpoint kept).";

std::string VersionText() {
  std::string text = "lamina " + Version();
  for (const std::string& line : BuildOptions()) {
    text += "\n  " + line;
  }
  return text;
}

int PrintError(const std::string& message, int code) {
  fmt::print(stderr, "lamina: error: {}\n", message);
  return code;
}

// CLI11 says which argument it did not expect; add the nearest one that exists.
int PrintUsageError(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  std::string message = error.what();
  const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  for (const CLI::App* sub : command->get_subcommands({})) {
    names.push_back(sub->get_name());
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (int i = 1; i < argc; ++i) {
      const std::string word(SplitText(argv[i], '=')[0]);
      if (message.find(word) != std::string::npos && std::find(names.begin(), names.end(), word) == names.end()) {
        if (const std::string hint = DidYouMean(word, names); !hint.empty()) {
          message += ". " + hint;
          break;
        }
      }
    }
  }
  const std::string who = command == &app ? "lamina" : "lamina " + command->get_name();
  fmt::print(stderr, "lamina: error: {}\nTry '{} --help'.\n", message, who);
  return kExitUsage;
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
    commands = {AddTrain(app, argc, argv), AddEvaluate(app), AddPredict(app),
                AddDevices(app),           AddData(app),     AddBench(app)};
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
    return PrintError(error.what(), kExitFailure);
  }
}

}  // namespace
}  // namespace lamina::cli

namespace {

// Threads of libgomp spin for milliseconds at every barrier before they sleep, and the setting is read before main().
// Where another process wants the cores a training step of 1 ms then takes 100 ms; 20,000 rounds (about 0.2 ms) cost
// nothing on idle cores. See docs/decisions/0003-spinning-threads.md.
void LimitSpinning(char** argv) {
  constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
  if (std::getenv(kSpinCount) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
    setenv(kSpinCount, "20000", 0);
    execv("/proc/self/exe", argv);  // comes back only where it is not possible: then as before
  }
}

}  // namespace

int main(int argc, char** argv) {
  LimitSpinning(argv);
   return lamina::cli::Main(argc, argv);
}
