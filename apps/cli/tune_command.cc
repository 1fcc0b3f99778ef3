// lamina tune: searches the fastest plans on this machine and keeps them. Flags say whether plans are listed,
// forgotten, exported, imported, swept or searched. Measuring is left to lamina/tune/tuner.h, the file of plans to
// lamina/tune/profile.h.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "interrupt.h"
#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/hardware.h"
#include "lamina/report/report_writer.h"
#include "lamina/study/layer_sweep.h"
#include "lamina/tune/profile.h"
#include "lamina/tune/tuner.h"
#include "print.h"

namespace lamina::cli {
namespace {

// From this size on a square forward problem is a slice, whose asymmetry is tuned, too.
constexpr int64_t kSliceSize = 1024;

struct TuneCommand {
  std::vector<std::string> problems;
  std::string backend = "cpu";
  int threads = 0;
  std::string level = "measure";
  double milliseconds = 30;
  double limit_seconds = TuneOptions().limit_seconds;
  bool list = false;
  bool forget = false;
  std::string export_path;
  std::string import_path;
  bool sweep = false;
  int64_t inputs = 784;
  JsonOutput json_output;
};

std::string StoredPath(const Backend& backend) {
  if (TuningIsOff()) {
    throw Error(ErrorCode::kInvalidArgument, "tuning is forbidden by the environment",
                {.value = "LAMINA_TUNE=off", .remedy = "Unset it to use stored plans."});
  }
  std::string path = ProfilePath(backend);
  if (path.empty()) {
    throw Error(ErrorCode::kNotFound, "no folder for the profile",
                {.remedy = "Set XDG_CACHE_HOME or HOME to an absolute path."});
  }
  return path;
}

// What is stored, or an empty profile where there is none or it is not to be used.
Profile Stored(const Backend& backend) {
  const StoredProfile stored = LoadStoredProfile(backend);
  PrintWarning(stored.warning);
  return stored.profile == nullptr ? Profile(backend) : *stored.profile;
}

int List(const Backend& backend, const TuneCommand& command) {
  const std::string path = StoredPath(backend);
  const Profile profile = Stored(backend);
  nlohmann::json rows = nlohmann::json::array();
  for (const ProfileEntry& entry : profile.entries()) {
    rows.push_back({{"problem", entry.problem.Text()}, {"plan", entry.plan.Text()}, {"gain", entry.gain}});
  }
  if (!command.json_output.to_stdout()) {
    Print("{}\n{}", path, Lines(profile.entries().empty() ? "no plans stored\n" : profile.Text()));
  }
  command.json_output.Write("tune", {{"profile", path}, {"results", std::move(rows)}});
  return kExitOk;
}

int Forget(const Backend& backend, const JsonOutput& json_output) {
  const std::string path = StoredPath(backend);
  RequireProfile(path);
  std::error_code error;
  const bool was_there = std::filesystem::remove(path, error);
  if (error) {
    throw Error(ErrorCode::kIo, "cannot remove the profile: " + error.message(), {.file = path});
  }
  if (!json_output.to_stdout()) {
    Print("{}: {}\n", path, was_there ? "removed" : "there was none");
  }
  json_output.Write("tune forget", {{"profile", path}, {"removed", was_there}});
  return kExitOk;
}

int Import(const Backend& backend, const TuneCommand& command) {
  const std::string path = StoredPath(backend);
  Profile profile = Stored(backend);
  profile.Merge(ReadFile(command.import_path), command.import_path);
  profile.Save(path);
  if (!command.json_output.to_stdout()) {
    Print("{}: {} plans\n", path, profile.entries().size());
  }
  command.json_output.Write("tune import", {{"profile", path}, {"plans", profile.entries().size()}});
  return kExitOk;
}

int Export(const Backend& backend, const TuneCommand& command) {
  const std::string path = StoredPath(backend);
  const Profile profile = Stored(backend);
  WriteFileAtomically(command.export_path, profile.Text());
  command.json_output.Write("tune export", {{"profile", path}, {"plans", profile.entries().size()}});
  return kExitOk;
}

int Sweep(const TuneCommand& command) {
  CatchInterrupts();
  LayerTimer timer({.threads = command.threads, .stop_requested = Interrupted});
  SweepRequest request{{512, 1024, 2048, 4096}, {4096, 1024, 256, 128, 64, 16}, command.inputs};
  request.dtype = DType::kF32;
  request.backend = command.backend;
  const std::vector<SweepCell> cells = SweepLayers(request, timer);
  if (timer.interrupted()) {
    PrintToStderr("lamina: interrupted\n");
    return kExitInterrupted;
  }
  ReportTable table = SweepTable(cells, /*speedup=*/false);
  table.title = "Seconds (rbf, mul)";
  const std::string what =
      fmt::format("A layer of M neurons on M samples of {} inputs, f32, B samples a call.", command.inputs);
  if (!command.json_output.to_stdout()) {
    PrintData(ToMarkdown({"B x M", QueryHardware().OneLine(), what, {table}, {}}));
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const SweepCell& cell : cells) {
    rows.push_back({{"m", cell.m},
                    {"block", cell.block},
                    {"rbf_seconds", cell.rbf_seconds},
                    {"mul_seconds", cell.mul_seconds},
                    {"estimated", cell.estimated},
                    {"reason", cell.reason}});
  }
  command.json_output.Write("tune sweep", {{"hardware", QueryHardware().OneLine()}, {"results", std::move(rows)}});
  return timer.AllVerified() ? kExitOk : kExitFailure;
}

void PrintResult(const TuneResult& result, const ProfileEntry& entry, size_t width) {
  Print("{:<{}} {:>10.1f} {:>10.1f} {:>6.2f}x {:>5}  {}\n", result.problem.Text(), width, 1e6 * result.estimate_seconds,
        1e6 * result.best_seconds, entry.gain, result.measured, entry.plan.Text());
  if (result.left_out > 0) {
    Print("{:<{}} {} plans were left out by --time-limit\n", "", width, result.left_out);
  }
  for (const Plan& plan : result.wrong) {
    PrintToStderr("lamina: warning: a wrong result, never chosen: {} {}\n", result.problem.Text(), plan.Text());
  }
  std::fflush(stdout);
}

// Those asked for, or the usual ones; throws for one that the backend cannot do, before minutes are spent on the
// others.
std::vector<Problem> ProblemsFor(const Backend& backend, const TuneCommand& command) {
  std::vector<Problem> problems;
  for (const std::string& text : command.problems) {
    problems.push_back(Problem::Parse(text));
  }
  if (problems.empty()) {
    problems = UsualProblems();
  }
  for (const Problem& problem : problems) {
    if (const Verdict verdict = backend.Supports(problem); !verdict) {
      throw Error(ErrorCode::kUnsupported, verdict.reason, {.value = problem.Text()});
    }
  }
  return problems;
}

// The problem's fastest plan; a slice of a square product also learns how to divide it among unequal cores.
ProfileEntry EntryFor(const TuneResult& result, const TuneOptions& options) {
  const Problem& problem = result.problem;
  ProfileEntry entry{problem, result.plan, result.gain()};
  const bool slice = problem.pass == Pass::kForward && problem.batch == problem.layer.outputs &&
                     problem.batch >= kSliceSize && options.level != TuneLevel::kEstimate;
  if (slice && !Interrupted()) {
    entry.plan.asymmetry = TuneAsymmetry(problem, options);
  }
  return entry;
}

int Tune(const Backend& backend, const TuneCommand& command) {
  const std::string path = StoredPath(backend);
  RequireProfile(path);
  TuneOptions options{command.backend,       command.threads, ParseTuneLevel(command.level), command.milliseconds / 1e3,
                      command.limit_seconds, Interrupted};
  const std::vector<Problem> problems = ProblemsFor(backend, command);
  const bool stored = options.level != TuneLevel::kEstimate;
  if (stored) {
    Profile::RequireWritable(path);
  }
  size_t width = 7;
  for (const Problem& problem : problems) {
    width = std::max(width, problem.Text().size());
  }
  const bool text = !command.json_output.to_stdout();
  if (text) {
    Print("{}\n{}\n\n{:<{}} {:>10} {:>10} {:>7} {:>5}  plan\n", QueryHardware().OneLine(), backend.Describe(),
          "problem", width, "before us", "after us", "gain", "tried");
  }
  CatchInterrupts();
  Profile profile = Stored(backend);
  nlohmann::json rows = nlohmann::json::array();
  for (const Problem& problem : problems) {
    const TuneResult result = TuneProblem(problem, options);
    ProfileEntry entry = EntryFor(result, options);
    if (Interrupted()) {
      PrintToStderr("lamina: interrupted; nothing was stored\n");
      return kExitInterrupted;
    }
    if (text) {
      PrintResult(result, entry, width);
    }
    rows.push_back({{"problem", problem.Text()},
                    {"plan", entry.plan.Text()},
                    {"estimate_seconds", result.estimate_seconds},
                    {"seconds", result.best_seconds},
                    {"gain", entry.gain},
                    {"measured", result.measured},
                    {"left_out", result.left_out}});
    if (stored) {
      profile.Add(std::move(entry));
    }
  }
  if (stored) {
    profile.Save(path);
    if (text) {
      Print("\n{} plans in {}\n", profile.entries().size(), path);
    }
  }
  command.json_output.Write("tune", {{"profile", path}, {"results", std::move(rows)}});
  return kExitOk;
}

int RunTune(const TuneCommand& command) {
  command.json_output.Check({{{"--import", command.import_path}}, {{"--export", command.export_path}}});
  const std::unique_ptr<Backend> backend = MakeBackend(command.backend, {.threads = command.threads});
  if (command.list) {
    return List(*backend, command);
  }
  if (command.forget) {
    return Forget(*backend, command.json_output);
  }
  if (!command.export_path.empty()) {
    return Export(*backend, command);
  }
  if (!command.import_path.empty()) {
    return Import(*backend, command);
  }
  return command.sweep ? Sweep(command) : Tune(*backend, command);
}

}  // namespace

Command AddTune(CLI::App& app) {
  auto command = std::make_shared<TuneCommand>();
  CLI::App* tune = app.add_subcommand("tune", "Find the fastest plans for layers on this machine and keep them");
  CLI::Option* problem =
      tune->add_option("problem", command->problems,
                       "Problems, written as in bench layer; none: usual layers of training and inference");
  tune->add_option("--level", command->level,
                   "estimate (measure nothing, show), measure (promising plans) or exhaustive (all)")
      ->capture_default_str();
  tune->add_option("--milliseconds", command->milliseconds, "Time for a plan")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::Range(1.0, 60000.0));
  tune->add_option("--time-limit", command->limit_seconds,
                   "Seconds for a problem, about: plans it leaves no time for are the least promising ones")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::Range(0.0, 86400.0));
  AddBackendFlag(*tune, command->backend, "Whose plans are searched: ");
  AddThreadsFlag(*tune, command->threads, "Threads; 0: all cores. Plans are kept by number of threads");
  std::vector<CLI::Option*> actions{
      tune->add_flag("--list", command->list, "Show the stored plans"),
      tune->add_flag("--forget", command->forget, "Remove the stored plans"),
      tune->add_option("--export", command->export_path, "Write the stored plans to this file")->type_name("FILE"),
      tune->add_option("--import", command->import_path, "Add the plans of such a file; of this kind of machine only")
          ->type_name("FILE"),
      tune->add_flag("--sweep", command->sweep, "The B x M table of the 2017 paper for this machine")};
  for (size_t i = 0; i < actions.size(); ++i) {
    actions[i]->excludes(problem);
    for (size_t j = i + 1; j < actions.size(); ++j) {
      actions[i]->excludes(actions[j]);
    }
  }
  tune->add_option("--inputs", command->inputs, "Inputs of the layers of --sweep")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  command->json_output.AddTo(*tune);
  tune->footer(
      "Plans change speed and the order of sums, nothing else. LAMINA_TUNE=off: stored plans are not used.\n"
      "Example: lamina tune dot-tanh:f32:forward:128x1024x784 l1-triangle:f32:forward:4096x4096x784");
  return {tune, [command] { return RunTune(*command); }};
}

}  // namespace lamina::cli
