// lamina distill. Teacher and rows are read, Distill() trains one network, and its file is written. An
// interrupted run writes nothing. Rows, training and agreement are left to lamina/run/distill.h.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "config.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/platform/process.h"
#include "lamina/run/distill.h"
#include "model_input.h"
#include "print.h"
#include "progress.h"

namespace lamina::cli {
namespace {

constexpr std::string_view kOfStudent[] = {"hidden", "epochs", "seed"};

bool IsOfStudent(const Setting<TrainSettings>& row) {
  return std::ranges::find(kOfStudent, row.name) != std::end(kOfStudent);
}

struct DistillCommand {
  ModelInput input;
  std::string out;
  TrainSettings student;
  std::optional<int64_t> rows;
  JsonOutput json_output;
};

DistillOptions OptionsOf(const DistillCommand& command) {
  return {.hidden = command.student.hidden,
          .epochs = command.student.epochs,
          .made_up = command.rows,
          .seed = command.student.seed,
          .backend = command.input.backend,
          .threads = command.input.threads};
}

void PrintDistilled(const DistillCommand& command, const Model& teacher, const Distilled& distilled) {
  const Model& student = distilled.model;
  Print("{} of {} and {} made up, {}, {}\n", Counted(distilled.rows, "row{s}"), command.input.data,
        Counted(distilled.made_up, "row{s}"), Counted(distilled.epochs, "epoch{s}"), DurationText(distilled.seconds));
  Print("teacher: {}, {}\ndistilled network: {}, {}\n", teacher.ShapeText(),
        Counted(teacher.parameter_count(), "parameter{s}"), student.ShapeText(),
        Counted(student.parameter_count(), "parameter{s}"));
  const bool classes = student.preprocessor.targets().task() == Task::kClassification;
  const std::string rows =
      Counted(distilled.checked, distilled.checks_learned ? "row{s} that it learned" : "row{s} that it did not learn");
  if (classes) {
    Print("on {}, it gives the teacher's class in {} %\n", rows, PercentText(distilled.agreement));
  } else {
    Print("on {}, its answers have an R² of {:.4f} to the teacher's\n", rows, distilled.agreement);
  }
  Print("wrote {}\n", command.out);
}

int RunDistill(const DistillCommand& command) {
  if (command.out.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no file for the distilled network", {.remedy = "Give --out FILE."});
  }
  FileUse files = command.input.Files();
  files.written.push_back({"--out", command.out});
  command.json_output.Check(std::move(files));
  const Model teacher = command.input.ReadModel();
  Table table = command.input.ReadTable(teacher);
  teacher.preprocessor.Prepare(table);
  CatchInterrupts();
  const bool text = !command.json_output.to_stdout();
  std::optional<ProgressPrinter> printer;
  TrainCallbacks callbacks;
  callbacks.stop_requested = callbacks.abandon_requested = &Interrupted;
  if (text) {
    callbacks.progress = [&](const TrainProgress& progress) {
      if (!printer) {
        printer.emplace(progress.epochs, platform::IsTerminal(platform::kStandardOutput));
      }
      printer->Update(progress);
    };
  }
  const Distilled distilled = Distill(teacher, table, command.input.RowsOf(table), OptionsOf(command), callbacks);
  if (printer) {
    printer->Finish();
  }
  if (distilled.interrupted) {
    PrintWarning("stopped: nothing is written");
    return kExitInterrupted;
  }
  SaveModel(command.out, distilled.model);
  if (text) {
    PrintDistilled(command, teacher, distilled);
  }
  nlohmann::json result = ToJson(distilled);
  result["model"] = command.input.model;
  result["data"] = command.input.data;
  result["out"] = command.out;
  result["networks"] = teacher.networks();
  command.json_output.Write("distill", std::move(result));
  return kExitOk;
}

}  // namespace

Command AddDistill(CLI::App& app) {
  auto command = std::make_shared<DistillCommand>();
  CLI::App* distill = app.add_subcommand("distill", "Train one network that answers as a model of many does");
  command->input.AddTo(*distill);
  distill->add_option("-o,--out", command->out, "Model file to write")->type_name("FILE");
  distill
      ->add_option("--made-up", command->rows,
                   "Rows that are made up near those of the data; default: four for each row, fewer for large tables")
      ->check(CheckCount)
      ->type_name("INT");
  AddSettingFlags(*distill, command->student, &IsOfStudent);
  command->json_output.AddTo(*distill);
  distill->footer(
      "The network learns what the model answers to the rows, which need no target, and to rows made up near them. "
      "Give rows that the model was trained on, and others.\n"
      "Example: lamina distill digits.safetensors digits.csv.gz --out one.safetensors");
  return {distill, [command] {
            command->input.TakePlainFiles();
            return RunDistill(*command);
          }};
}

}  // namespace lamina::cli
