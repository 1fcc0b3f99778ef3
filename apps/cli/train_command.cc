// lamina train. Settings come from a checkpoint, a configuration file, then flags; files are checked before anything is
// read. Then folds or one session are run, and what came out is printed and written. Everything about training is
// TrainSession's and CrossValidate()'s.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/cluster/shards.h"
#include "lamina/platform/process.h"
#include "lamina/run/remarks.h"
#include "lamina/run/result_json.h"
#include "lamina/run/resume.h"
#include "lamina/run/session.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/method.h"
#include "lamina/settings/validation.h"
#include "method_result.h"
#include "pictures.h"
#include "print.h"
#include "progress.h"
#include "ranks.h"
#include "scaling_plan.h"
#include "tables.h"
#include "train_folds.h"

namespace lamina::cli {
namespace {

using nlohmann::json;

constexpr const char* kTrainFooter =
    "Examples:\n"
    "  lamina train data/digits.csv.gz --model digits.safetensors\n"
    "  lamina train --data houses.csv --target price --drop id --patience 10 --model houses.safetensors\n"
    "  lamina train houses.csv --folds 5 --out-of-fold folds.csv\n"
    "  lamina train --data mnist/ --hidden 1024 --activation sigmoid --loss mse --optimizer sgd --learning-rate 0.05\n"
    "  lamina train --config run.toml --seed 7\n"
    "  lamina train --resume digits.safetensors.checkpoint";

struct TrainCommand {
  TrainSettings settings;
  std::string config;
  std::string resume;
  SaidByFiles said;
  const CLI::App* app = nullptr;  // which flags were given
  bool print_config = false;
  bool quiet = false;
  RankFlags ranks;
  PlanFlags plan;
  PictureOutput pictures;
  JsonOutput json_output;
};

void PrintStart(const TrainSession& session) {
  const Network& network = session.model().network;
  Print("{}: {} training, {} validation and {}; {}, {}; read in {}\n", session.settings().data,
        WithThousands(session.rows().train), WithThousands(session.validation().size()),
        Counted(session.test().size(), "test row{s}"), Counted(network.inputs(), "input{s}"),
        TargetText(session.model()), DurationText(session.load_seconds()));
  PrintDecisions(session.decisions());
  PrintNotes(NotesOn(session));
  if (!LearnsByGradient(session.settings())) {
    Print("method {}; {}\n", session.settings().method, session.backend().Describe());
    std::fflush(stdout);
    return;
  }
  Print("network {} ({}), {} parameters, {}, loss {}, recipe {}; {}\n", network.ShapeText(), ActivationsText(network),
        WithThousands(network.parameter_count()), DTypeName(network.dtype()), session.model().loss.Text(),
        session.settings().recipe, session.backend().Describe());
  if (const std::string remark = session.PrecisionRemark(); !remark.empty()) {
    Print("{}\n", remark);
  }
  if (const int64_t batch = session.settings().batch.value_or(0); batch > session.rows().train) {
    Print("--batch {} is more than the {} training rows: every step takes all of them\n", WithThousands(batch),
          WithThousands(session.rows().train));
  }
  if (const json ranks = RanksJson(); !ranks.is_null()) {
    Print("{} ranks on {} host{} by {}, {} shards of a batch\n", ranks["ranks"].get<int>(), ranks["hosts"].size(),
          ranks["hosts"].size() == 1 ? "" : "s", ranks["by"].get<std::string>(), session.options().shards);
  }
  if (session.first_epoch() > session.options().epochs) {
    Print("resumed after the last epoch\n");
  } else if (session.first_epoch() > 1) {
    Print("resumed in epoch {}\n", session.first_epoch());
  }
  std::fflush(stdout);  // a reader of the pipe sees it before the first epoch ends
}

json ResultOfJob(const TrainSession& session, const TrainResult& result) {
  json node = ResultJson(session, result);
  node["peak_memory_bytes"] = PeakMemory_bytes();
  if (json ranks = RanksJson(); !ranks.is_null()) {
    ranks["waited_seconds"] = result.waited_seconds;
    ranks["exchange_seconds"] = result.exchange_seconds;
    ranks["exchanged_by"] = result.exchanged_by;
    ranks["overlap"] = result.overlaps ? "" : result.overlaps.reason;
    node["ranks"] = std::move(ranks);
  }
  return node;
}

void PrintEpochs(const TrainSession& session, const TrainResult& result) {
  const History& history = result.history;
  const auto count = std::ssize(history.epochs);
  std::string line = fmt::format("{} in {}", Counted(count, "epoch{s}"), DurationText(result.train_seconds));
  if (history.stop_reason == "early_stopping") {
    line += ", stopped early";
  } else if (history.stop_reason == "converged") {
    line += ", converged";
  }
  if (history.best_epoch > 0) {
    line += fmt::format("; best epoch {}{}", history.best_epoch,
                        session.options().KeepsBest(session.validation().size() > 0) || history.best_epoch == count
                            ? ""
                            : ", the last one is kept");
  }
  if (const json ranks = RanksJson(); !ranks.is_null() && result.train_seconds > 0) {
    line += fmt::format("; {:.0f} % of it waiting for other ranks", 100 * result.waited_seconds / result.train_seconds);
    if (const double hidden = result.exchange_seconds - result.waited_seconds; hidden > 0) {
      line += fmt::format(", {:.0f} % exchanging while computing", 100 * hidden / result.train_seconds);
    }
  }
  Print("{}\n", line);
}

// What was kept for judging answers.
void PrintQuality(const TrainSession& session, const TrainResult& result) {
  if (result.calibration && session.settings().calibrate) {
    Print("calibrated on {}: temperature {:.4g}, calibration error {} % (before: {} %), log loss {:.5g} ({:.5g})\n",
          Counted(result.calibration->rows, "row{s}"), result.calibration->temperature,
          PercentText(result.calibration->error), PercentText(result.calibration->error_before),
          result.calibration->log_loss, result.calibration->log_loss_before);
  }
  if (const std::optional<AnswerIntervals>& intervals = session.model().intervals) {
    const std::vector<std::string> names = session.model().preprocessor.targets().answer_names();
    for (size_t j = 0; j < names.size(); ++j) {
      Print("{:g} % intervals: {} ± {}{}\n", 100 * intervals->level, names[j], FigureText(intervals->half_widths[j]),
            result.coverage.empty()
                ? ""
                : fmt::format(", which holds {} % of the test rows", PercentText(result.coverage[j])));
    }
  }
}

void PrintResult(const TrainSession& session, const TrainResult& result) {
  if (result.history.stop_reason == "folds") {
    const Model& model = session.model();
    if (EffortFrom(session.settings()) == Effort::kBest) {
      Print("{} answer together\n", Counted(model.networks(), "network{s}"));
    } else {
      Print("the mean of the {} folds' networks, each {}\n", model.networks(), model.network.ShapeText());
    }
  } else if (!LearnsByGradient(session.settings())) {
    PrintMethodResult(session, result);
  } else {
    PrintEpochs(session, result);
    PrintFound(session);
  }
  if (result.test) {
    PrintEvaluation("test", *result.test, /*details=*/false);
    PrintMetrics(result.test->metrics);
  }
  PrintQuality(session, result);
  for (const std::string& remark : RemarksOn(session, result)) {
    PrintNote(remark);
  }
  const TrainSettings& settings = session.settings();
  for (const std::string* path : {&settings.model, &settings.history, &settings.history_json}) {
    if (!path->empty()) {
      Print("wrote {}\n", *path);
    }
  }
}

void PrintInterrupted(const TrainSession& session, const TrainResult& result) {
  const std::string path = session.CheckpointPath();
  const std::string done =
      LearnsByGradient(session.settings()) ? fmt::format(" after {} whole epochs", result.history.epochs.size()) : "";
  PrintToStderr("lamina: interrupted{}; {}\n", done,
                !session.can_go_on() ? "nothing was kept"
                : path.empty()       ? "nothing was kept (give --checkpoint FILE or --model FILE)"
                                     : "go on with: " + ResumeCommandLine(session.settings(), path));
}

// Trains, prints and writes what is to be known of it; `folds`: what the rows were judged by before, in the result.
int RunSession(const TrainCommand& command, TrainSession& session, json folds = {}) {
  const bool text = !command.quiet && !command.json_output.to_stdout() && SpeaksForAll();
  command.pictures.CheckPlots(session.model().preprocessor, /*trained=*/true);
  if (SpeaksForAll()) {
    PrintWarning(session.tuning_warning());
    PrintWarning(session.threads_warning());
  }
  ProgressPrinter printer(session.options().epochs, platform::IsTerminal(platform::kStandardOutput));
  TrainCallbacks callbacks;
  callbacks.stop_requested = Interrupted;
  callbacks.abandon_requested = Interrupted;
  if (text) {
    PrintStart(session);
    callbacks.progress = [&](const TrainProgress& progress) { printer.Update(progress); };
    if (LearnsByGradient(session.settings())) {
      callbacks.epoch_done = [&](const EpochRecord& record) { printer.EpochDone(record); };
    }
  }
  CatchInterrupts();
  TrainResult result;
  try {
    result = session.Run(callbacks);
  } catch (...) {
    printer.Finish();
    throw;
  }
  printer.Finish();
  if (!SpeaksForAll()) {
    return result.history.stop_reason == "interrupted" ? kExitInterrupted : kExitOk;
  }
  if (result.history.stop_reason == "interrupted") {
    PrintInterrupted(session, result);
    return kExitInterrupted;
  }
  if (text) {
    PrintResult(session, result);
  }
  // Only where somebody asks for it: after 100,000 epochs it takes 200 MB.
  json node = command.json_output.path.empty() ? json::object() : ResultOfJob(session, result);
  if (!folds.is_null()) {
    node["cross_validation"] = std::move(folds);
  }
  if (command.pictures.wanted()) {
    command.pictures.Write(ReportTraining(session, result), text, node);
  }
  command.json_output.Write("train", std::move(node));
  return kExitOk;
}

// Every fold, then the model that is kept, if one is.
int RunFolds(const TrainCommand& command) {
  const TrainSettings& settings = command.settings;
  if (!command.resume.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--resume goes on with one run, and these are several",
                {.remedy = "Leave --resume out, or train one fold (--fold 1)."});
  }
  const bool text = !command.quiet && !command.json_output.to_stdout();
  ValidateSettings(settings);
  RequireEncodedForMemory(settings);
  CheckTrainOutputs(settings);
  const RawData raw = ReadRawData(settings);
  command.pictures.CheckPlots(settings, raw);
  CatchInterrupts();
  const CrossValidation result = CrossValidateWithProgress(settings, raw, text);
  if (result.interrupted) {
    PrintToStderr("lamina: interrupted{}; nothing was kept\n",
                  settings.folds > 0 ? fmt::format(" after {} of {} folds", result.folds.size(), settings.folds)
                                     : " before the first model");
    return kExitInterrupted;
  }
  if (result.stopped) {
    PrintToStderr("lamina: interrupted; the best of the models so far are kept\n");
  }
  if (text) {
    PrintCrossValidation(settings, result);
  }
  const bool answers = !settings.model.empty() || !settings.test.empty();
  if (!answers && settings.history.empty() && settings.history_json.empty() && !command.pictures.wanted()) {
    command.json_output.Write("train", {{"cross_validation", ToJson(result)}, {"settings", ToJson(settings)}});
    return kExitOk;
  }
  TrainSession session(result.final_settings, raw, result.found);
  if (text) {
    Print("{}\n", result.found.networks.empty() ? "now on all rows" : "now all of them together");
  }
  return RunSession(command, session, ToJson(result));
}

int RunTrain(const TrainCommand& command) {
  if (command.print_config) {
    PrintData(WriteConfig(command.settings));
    return kExitOk;
  }
  command.said.RequireGiven(*command.app);
  const TrainSettings& settings = command.settings;
  FileUse files = FilesOf(settings);
  files.AddRead("--config", {command.config});
  if (!command.resume.empty() && !IsSameFile(command.resume, CheckpointPathOf(settings))) {
    files.AddRead("--resume", {command.resume});  // going on in the same checkpoint is meant
  }
  command.json_output.Check(std::move(files));
  command.pictures.Check();
  Communicator* ranks = JoinRanks(command.ranks);
  if (RunsOnFolds(settings)) {
    if (ranks != nullptr) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("--{} makes several runs, and ranks share one", settings.folds > 0 ? "folds" : "effort best"),
          {.remedy = "Run them in one process, or one of the folds on the ranks (--folds 5 --fold 1)."});
    }
    return RunFolds(command);
  }
  TrainSettings trained = settings;
  if (command.plan.plan && command.resume.empty() && trained.shards == 0) {  // what ranks would train, by their recipe
    trained.shards = kShardsOfRanks;
  }
  const auto session = command.resume.empty()
                           ? std::make_unique<TrainSession>(trained, std::vector<Activation>(), ranks)
                           : std::make_unique<TrainSession>(trained, command.resume, std::vector<Activation>(), ranks);
  if (command.plan.plan) {
    const bool text = !command.quiet && !command.json_output.to_stdout() && SpeaksForAll();
    json node = PlanRanks(*session, command.plan, text);
    if (SpeaksForAll()) {
      command.json_output.Write("train plan", std::move(node));
    }
    return kExitOk;
  }
  return RunSession(command, *session);
}

}  // namespace

Command AddTrain(CLI::App& app, int argc, const char* const* argv) {
  auto command = std::make_shared<TrainCommand>();
  CLI::App* train = app.add_subcommand("train", "Train a network on a data file and keep the model");
  if (argc > 1 && std::string_view(argv[1]) == "train") {
    if (const std::string path = ValueInArguments(argc, argv, "--resume"); !path.empty()) {
      ResumedSettings resumed = ResumeSettings(path);
      command->settings = std::move(resumed.settings);
      for (SaidFlag& flag : resumed.left_out) {
        command->said.Add(path, std::move(flag));
      }
    }
    if (const std::string path = ValueInArguments(argc, argv, "--config"); !path.empty()) {
      ReadConfigFile(path, command->settings, command->said);
    }
  }
  command->app = train;
  AddSettingFlags(*train, command->settings);
  train
      ->add_option("--config", command->config,
                   "Take settings from this TOML file; flags win, and say where files are written")
      ->type_name("FILE");
  command->ranks.AddTo(*train);
  command->plan.AddTo(*train);
  train
      ->add_option("--resume", command->resume,
                   "Go on from this checkpoint with its settings; flags win. Where files are written is not taken from "
                   "it, but the model of NAME.checkpoint is NAME")
      ->type_name("FILE");
  train->add_flag("--print-config", command->print_config, "Print a complete configuration file and stop");
  train->add_flag("-q,--quiet", command->quiet, "Print errors only");
  command->pictures.AddTo(*train);
  command->json_output.AddTo(*train);
  train->footer(kTrainFooter);
  return {train, [command] { return RunTrain(*command); }};
}

}  // namespace lamina::cli
