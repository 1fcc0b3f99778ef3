// What the commands of the program share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/file.h"

namespace lamina::cli {

// Exit codes, documented in docs/command-line.md.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

/// A command adds itself to `app` and returns what runs it (giving the exit code).
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Command AddDevices(CLI::App& app);
Command AddTrain(CLI::App& app, int argc, const char* const* argv);
Command AddSearch(CLI::App& app, int argc, const char* const* argv);
Command AddEvaluate(CLI::App& app);
Command AddCompare(CLI::App& app);
Command AddDistill(CLI::App& app);
Command AddDrift(CLI::App& app);
Command AddExplain(CLI::App& app);
Command AddExport(CLI::App& app);
Command AddModel(CLI::App& app);
Command AddPredict(CLI::App& app);
Command AddLayer(CLI::App& app, int argc, const char* const* argv);
Command AddNeighbours(CLI::App& app);
Command AddCentres(CLI::App& app);
Command AddData(CLI::App& app);
Command AddBench(CLI::App& app);
Command AddTune(CLI::App& app);

/// Where a command's JSON result goes: a file, "-" for standard output, "" for nowhere.
struct JsonOutput {
  std::string path;
  void AddTo(CLI::App& app);
  bool to_stdout() const { return path == "-"; }
  /// CheckFiles with this file and `others`, all that the command reads and writes: before any work.
  void Check(FileUse others = {}) const;
  /// Adds "command" and "lamina_version", writes atomically.
  void Write(const std::string& command, nlohmann::json result) const;
};

/// Files given without flags, for the flags that are not given, in their order.
class PlainFiles {
 public:
  void AddTo(CLI::App& app, const std::string& help);
  /// Fills the empty ones of `files`, (flag, value). Throws CLI::RequiredError for one that stays empty and
  /// CLI::ExtrasError for a file too many.
  void Fill(std::initializer_list<std::pair<const char*, std::string*>> files) const;

 private:
  std::vector<std::string> given_;
};

/// --threads, from 0 (all cores).
void AddThreadsFlag(CLI::App& app, int& threads, const std::string& help = "Threads; 0: all cores");
/// --backend, whose names stand behind `help`.
void AddBackendFlag(CLI::App& app, std::string& backend, const std::string& help = "");
/// Several of them.
void AddBackendsFlag(CLI::App& app, std::vector<std::string>& backends);

/// A check of options of real numbers beside that of their range, which NaN passes: "" or what is wrong.
std::string CheckFinite(const std::string& text);

/// node[name]; NaN where it is none, as JSON has no NaN: an R² of one row is null.
double NumberOrNan(const nlohmann::json& node, const char* name);

/// How a benchmark ends; says aloud where a result was wrong.
int ExitOfBenchmark(bool all_verified, std::string_view where = "");

/// "lamina: warning: ..." on standard error, nothing for "".
void PrintWarning(const std::string& warning);

/// Largest resident memory of this process so far.
int64_t PeakMemory_bytes();

}  // namespace lamina::cli
