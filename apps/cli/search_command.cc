// lamina search. Settings and files are checked, Search runs with a table of its trials, and the ranking is printed and
// written. Check against the defaults, ensemble and training of the best follow where they are asked for. Choosing and
// training trials is left to lamina/search.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/file_claim.h"
#include "lamina/base/hardware.h"
#include "lamina/base/output_folder.h"
#include "lamina/base/text.h"
#include "lamina/platform/process.h"
#include "lamina/report/draw_plots.h"
#include "lamina/report/search_plots.h"
#include "lamina/run/command_line.h"
#include "lamina/run/session.h"
#include "lamina/search/default_check.h"
#include "lamina/search/ensemble.h"
#include "lamina/search/search.h"
#include "lamina/settings/validation.h"
#include "pictures.h"
#include "print.h"
#include "progress.h"
#include "ranks.h"
#include "search_table.h"
#include "tables.h"

namespace lamina::cli {
namespace {

using nlohmann::json;

constexpr size_t kShownTrials = 20;
constexpr size_t kPlainColumns = 160;
constexpr const char* kSearchFooter =
    "Examples:\n"
    "  lamina search --data data/digits.csv.gz\n"
    "  lamina search --data data/digits.csv.gz --vary learning-rate=0.001..1:log:10 --vary \"hidden=64|128|128,64\"\n"
    "  lamina search --data digits.csv.gz --vary learning-rate=1e-4..0.1 --vary batch=8,32,128 --random 30 --state s\n"
    "  lamina search --data digits.csv.gz --retrain --model best.safetensors --csv ranking.csv --plot pictures\n"
    "  lamina search digits.csv.gz --recipe tabular --time-limit 20s --ensemble 8 --model ensemble.safetensors";

struct SearchCommand {
  SearchSettings settings;
  std::string config;
  SaidByFiles said;
  const CLI::App* app = nullptr;  // which flags were given
  std::string csv;
  std::string plot;
  bool print_config = false;
  bool quiet = false;
  RankFlags ranks;
  JsonOutput json_output;
};

// Everything that will be written can be, before minutes of training.
void CheckOutputs(const SearchCommand& command) {
  FileUse files = FilesOf(command.settings);
  files.AddRead("--config", {command.config});
  files.written.push_back({"--csv", command.csv});
  command.json_output.Check(std::move(files));
  if (command.settings.ensemble > 0) {
    if (command.settings.train.model.empty()) {
      RefuseSetting("ensemble", "--ensemble needs --model FILE");
    }
    CheckTrainOutputs(command.settings.train);
  }
  RequirePlotFolder(command.plot);
  if (!command.settings.state.empty()) {
    RequireOutputFolder(command.settings.state);
  }
}

void PrintStart(const Search& search) {
  const TrainData& data = search.data();
  std::string failed;
  int64_t invalid = 0;
  for (const Trial& trial : search.trials()) {
    if (trial.state == TrialState::kFailed && trial.history.epochs.empty()) {
      failed = invalid++ == 0 ? trial.failure : failed;
    }
  }
  Print("{}: {} training and {}; {}; read in {}\n", search.settings().train.data, WithThousands(data.train.size()),
        Counted(data.validation.size(), "validation row{s}"), Counted(data.train.features.cols(), "input{s}"),
        DurationText(search.load_seconds()));
  Print("{} in {}, {} at once with {} thread{} each{}\n", Counted(std::ssize(search.trials()), "trial{s}"),
        Counted(search.stages(), "stage{s}"), search.at_once(), search.threads_per_trial(),
        search.threads_per_trial() == 1 ? "" : "s",
        search.resumed() ? fmt::format("; going on, {} had begun", search.begun()) : "");
  if (search.others() > 0) {
    Print("{} at work in {}: the trials are shared\n",
          search.others() == 1 ? "another process is" : fmt::format("{} other processes are", search.others()),
          search.settings().state);
  }
  if (invalid > 0) {
    PrintNote(stdout, "{} cannot be trained; the first: {}\n", Counted(invalid, "trial{s}"), failed);
  }
  std::fflush(stdout);
}

int PrintInterrupted(const SearchCommand& command, const SearchResult& result) {
  int64_t begun = 0;
  for (const Trial& trial : result.trials) {
    begun += trial.history.epochs.empty() ? 0 : 1;
  }
  PrintToStderr(
      "lamina: interrupted, {} of {} trials had begun; {}\n", begun, result.trials.size(),
      command.settings.state.empty() ? "nothing was kept (give --state FOLDER)" : "the same command goes on from here");
  return kExitInterrupted;
}

json Retrain(const SearchCommand& command, const TrainSettings& settings, std::string_view title, bool text,
             bool& interrupted) {
  TrainSession session(settings);
  ProgressPrinter printer(session.options().epochs, platform::IsTerminal(platform::kStandardOutput));
  TrainCallbacks callbacks;
  callbacks.stop_requested = Interrupted;
  callbacks.abandon_requested = Interrupted;
  if (text) {
    Print("\n{} on {} training and validation rows\n", title, WithThousands(session.train().size()));
    callbacks.progress = [&](const TrainProgress& progress) { printer.Update(progress); };
    callbacks.epoch_done = [&](const EpochRecord& record) { printer.EpochDone(record); };
  }
  const TrainResult result = session.Run(callbacks);
  printer.Finish();
  interrupted = result.history.stop_reason == "interrupted";
  if (text && !interrupted) {
    if (result.test) {
      PrintEvaluation("test", *result.test, /*details=*/false);
    }
    Print("wrote {}\n", command.settings.train.model);
  }
  json node = {{"train_rows", session.train().size()},
               {"train_seconds", result.train_seconds},
               {"epochs", result.history.epochs.size()},
               {"model", command.settings.train.model},
               {"command", TrainCommandLine(settings)}};
  if (result.test) {
    node["test"] = ToJson(*result.test);
    node["test"]["seconds"] = result.test->seconds;
  }
  return node;
}

// The time was too short for any trial: the plain network, which is there in seconds.
json TrainPlain(const SearchCommand& command, bool text, bool& interrupted) {
  PrintToStderr(
      "lamina: warning: no trial came to the end of an epoch within --time-limit {}: training the plain recipe "
      "instead\n",
      command.settings.time_limit);
  TrainSettings settings = command.settings.train;
  settings.recipe = "plain";
  return Retrain(command, settings, "training the plain recipe", text, interrupted);
}

json WriteEnsemble(Search& search, const SearchResult& result, bool text) {
  const std::string& path = search.settings().train.model;
  const std::unique_ptr<FileClaim> claim = FileClaim::Take(path);
  const EnsembleResult ensemble = MakeEnsemble(search, result);
  SaveModel(path, ensemble.model);
  if (text) {
    std::string parts;
    for (const EnsembleResult::Part& part : ensemble.parts) {
      parts += fmt::format("{}{:.3g} of trial {}", parts.empty() ? "" : ", ", part.share, part.trial);
    }
    Print("\nensemble: validation loss {:.6g}, of the best network alone {:.6g}; {}\n", ensemble.loss, ensemble.alone,
          parts);
    if (ensemble.calibration) {
      Print("calibrated by a temperature of {:.3g}\n", ensemble.calibration->temperature);
    }
    if (ensemble.test) {
      PrintEvaluation("test", *ensemble.test, /*details=*/false);
    }
    Print("wrote {}\n", path);
  }
  json node = ToJson(ensemble);
  node["model"] = path;
  if (ensemble.test) {
    node["test"] = ToJson(*ensemble.test);
  }
  return node;
}

json ResultJson(const Search& search, const SearchResult& result, const std::string& command) {
  return {{"data", search.settings().train.data},
          {"hardware", QueryHardware().OneLine()},
          {"train_rows", search.data().train.size()},
          {"validation_rows", search.data().validation.size()},
          {"stages", search.stages()},
          {"at_once", search.at_once()},
          {"threads_per_trial", search.threads_per_trial()},
          {"metric", search.by_accuracy() ? "accuracy" : "loss"},
          {"load_seconds", search.load_seconds()},
          {"seconds", result.seconds},
          {"left_out", result.left_out},
          {"peak_memory_bytes", PeakMemory_bytes()},
          {"best_command", command},
          {"trials", RankingJson(result.trials, result.ranking, search.space(), search.keeps_best())}};
}

void DrawPictures(const SearchCommand& command, const Search& search, const SearchResult& result, bool text,
                  json& node) {
  const std::vector<Plot> plots = SearchPlots(search, result);
  WritePlots(plots, command.plot);
  const Verdict drawn = DrawPlots(plots, command.plot);
  std::vector<std::string> files;
  files.reserve(plots.size());
  for (const Plot& plot : plots) {
    files.push_back((std::filesystem::path(command.plot) / (plot.id + (drawn ? ".svg" : ".gp"))).string());
  }
  if (text) {
    Print("wrote {}\n", fmt::join(files, ", "));
  }
  node["plots"] = files;
  PrintWarning(drawn.reason);
}

void PrintRanking(const Search& search, const SearchResult& result, const std::string& line) {
  const bool terminal = platform::IsTerminal(platform::kStandardOutput);
  for (const std::string& line :
       RankingLines(search, result.trials, result.ranking, kShownTrials, terminal ? size_t{400} : kPlainColumns)) {
    Print("{}\n", line);
  }
  if (result.ranking.size() > kShownTrials) {
    Print("... and {} more (--csv FILE has all)\n", result.ranking.size() - kShownTrials);
  }
  Print("\n{} trials in {}{}; the best again:\n  {}\n", WithThousands(std::ssize(result.trials) - result.left_out),
        DurationText(result.seconds),
        result.left_out == 0
            ? ""
            : fmt::format(", {} more had no turn within the time limit", WithThousands(result.left_out)),
        line);
}

void PrintCheck(const Search& search, const SearchResult& result, const DefaultCheck& check) {
  Print("{}\n", check.Text());
  if (check.comparison && !check.better()) {
    Print("the default again:\n  {}\n", TrainCommandLine(search.SettingsOf(result.trials.front())));
  }
}

// With the cores of a host shared by its ranks, which share the folder of the search.
SearchSettings SettingsOfRanks(const SearchCommand& command) {
  SearchSettings settings = command.settings;
  if (Communicator* ranks = JoinRanks(command.ranks); ranks != nullptr) {
    if (settings.state.empty()) {
      RefuseSetting("state", "the ranks of a search share a folder, and --state does not name one", "",
                    "Give --state FOLDER, on a file system that all hosts see.");
    }
    settings.train.threads = settings.train.threads > 0 ? settings.train.threads : CoresOfRank(*ranks);
  }
  return settings;
}

// With the table of its trials on the terminal.
SearchResult RunShown(Search& search, bool text) {
  SearchTable table(search, platform::IsTerminal(platform::kStandardOutput));
  SearchCallbacks callbacks;
  callbacks.stop_requested = Interrupted;
  callbacks.abandon_requested = Interrupted;
  if (text) {
    PrintStart(search);
    callbacks.changed = [&](const SearchView& view) { table.Update(view); };
  }
  try {
    SearchResult result = search.Run(callbacks);
    table.Clear();
    return result;
  } catch (...) {
    table.Clear();
    throw;
  }
}

// Says and writes what the search found, and trains what is asked for beside it.
int FinishSearch(const SearchCommand& command, Search& search, const SearchResult& result, bool text) {
  bool interrupted = false;
  const Trial& best = result.trials[result.ranking.front()];
  if (best.history.epochs.empty()) {
    json node = {{"plain", TrainPlain(command, text, interrupted)}};
    command.json_output.Write("search", std::move(node));
    return interrupted ? kExitInterrupted : kExitOk;
  }
  const std::string line = TrainCommandLine(search.SettingsOf(best));
  if (text) {
    PrintRanking(search, result, line);
    std::fflush(stdout);
  }
  json node = ResultJson(search, result, line);
  const std::optional<DefaultCheck> check = CheckAgainstDefault(search, result, Interrupted);
  if (!check) {
    PrintToStderr("lamina: interrupted while comparing the best with the default; the ranking is done\n");
    return kExitInterrupted;
  }
  node["default"] = ToJson(*check);
  if (text) {
    PrintCheck(search, result, *check);
  }
  if (!command.csv.empty()) {
    WriteFileAtomically(command.csv, RankingCsv(result.trials, result.ranking, search.space(), search.keeps_best()));
    if (text) {
      Print("wrote {}\n", command.csv);
    }
  }
  if (command.settings.ensemble > 0) {
    node["ensemble"] = WriteEnsemble(search, result, text);
  }
  if (command.settings.retrain) {
    node["retrained"] = Retrain(command, search.RetrainSettingsOf(best), "training the best", text, interrupted);
  }
  if (interrupted) {
    PrintToStderr("lamina: interrupted while training the best; the ranking is done\n");
    return kExitInterrupted;
  }
  if (!command.plot.empty()) {  // last: a file that is in the way costs no model
    DrawPictures(command, search, result, text, node);
  }
  command.json_output.Write("search", std::move(node));
  return kExitOk;
}

int RunSearch(const SearchCommand& command) {
  if (command.print_config) {
    PrintData(WriteConfig(command.settings));
    return kExitOk;
  }
  command.said.RequireGiven(*command.app);
  CheckOutputs(command);
  ValidateSearch(command.settings);
  const SearchSettings settings = SettingsOfRanks(command);
  const bool text = !command.quiet && !command.json_output.to_stdout() && SpeaksForAll();
  CatchInterrupts();
  Search search(settings);
  RequirePlotFolder(command.plot, SearchPlotIds(search.space()));
  const SearchResult result = RunShown(search, text);
  if (!SpeaksForAll()) {
    return result.interrupted ? kExitInterrupted : kExitOk;
  }
  return result.interrupted ? PrintInterrupted(command, result) : FinishSearch(command, search, result, text);
}

}  // namespace

Command AddSearch(CLI::App& app, int argc, const char* const* argv) {
  auto command = std::make_shared<SearchCommand>();
  CLI::App* search = app.add_subcommand("search", "Try learning rates and other settings, rank them");
  if (argc > 1 && std::string_view(argv[1]) == "search") {
    if (const std::string path = ValueInArguments(argc, argv, "--config"); !path.empty()) {
      ReadConfigFile(path, command->settings, command->said);
    }
  }
  command->app = search;
  AddSettingFlags(*search, command->settings);
  command->ranks.AddTo(*search);
  search
      ->add_option("--config", command->config,
                   "Take settings from this TOML file; flags win, and say where files are written")
      ->type_name("FILE");
  search->add_flag("--print-config", command->print_config, "Print a complete configuration file and stop");
  search->add_option("--csv", command->csv, "Write the ranking of all trials to this file")->type_name("FILE");
  search->add_option("--plot", command->plot, "Write pictures of the trials into this folder, as SVG and PNG with data")
      ->type_name("FOLDER");
  search->add_flag("-q,--quiet", command->quiet, "Print errors only");
  command->json_output.AddTo(*search);
  search->footer(kSearchFooter);
  return {search, [command] { return RunSearch(*command); }};
}

}  // namespace lamina::cli
