// lamina predict. Files are checked, model and rows are read, rows are answered, and predictions are written. Reading
// is left to model_input.cc, answers to lamina/model/answer.h.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/data/encode/report_text.h"
#include "lamina/data/files/npy_writer.h"
#include "lamina/model/answer.h"
#include "lamina/model/predictions.h"
#include "lamina/run/result_json.h"
#include "model_input.h"
#include "print.h"
#include "tables.h"

namespace lamina::cli {
namespace {

struct PredictCommand {
  ModelInput input;
  std::string out = "-";
  PredictionColumns columns;
  std::vector<std::string> keep_columns;
  JsonOutput json_output;
};

// Class numbers as i64, or outputs as f64; -1 and NaN without an answer.
void ToNpy(const std::string& path, const Answers& answers, bool probabilities) {
  if (answers.classes.empty() || probabilities) {
    WriteNpy(path, answers.outputs.view());
    return;
  }
  const std::vector<int64_t> wide(answers.classes.begin(), answers.classes.end());
  WriteNpy(path, ViewOf(wide.data(), std::ssize(wide), 1));
}

KeptColumns Kept(const PredictCommand& command, const Table& table, const Answers& answers) {
  KeptColumns kept{{}, answers.rows};
  for (const std::string& name : command.keep_columns) {
    kept.columns.push_back(&table.columns[static_cast<size_t>(table.FindColumn(name))]);
  }
  return kept;
}

void RequireIntervals(const PredictCommand& command, const Model& model) {
  if (!command.columns.intervals) {
    return;
  }
  if (!model.intervals) {
    throw Error(ErrorCode::kInvalidArgument, "the model has no intervals",
                {.file = command.input.model, .remedy = "Train it with --intervals 0.9, for example."});
  }
  if (command.out.ends_with(".npy")) {
    throw Error(ErrorCode::kInvalidArgument, "--intervals are columns of a CSV file", {.value = command.out});
  }
}

int RunPredict(const PredictCommand& command) {
  FileUse files = command.input.Files();
  files.written.push_back({"--out", command.out == "-" ? "" : command.out});
  command.json_output.Check(std::move(files));
  const bool to_stdout = command.out == "-";
  if (to_stdout && command.json_output.to_stdout()) {
    throw Error(ErrorCode::kInvalidArgument, "--json - and the predictions cannot both go to standard output",
                {.remedy = "Give --out FILE."});
  }
  const Model model = command.input.ReadModel();
  RequireIntervals(command, model);
  const std::unique_ptr<Backend> backend = command.input.MakeBackend();
  Table table = command.input.ReadTable(model, command.keep_columns);
  const Answers answers = AnswerTable(model, *backend, table, command.input.RowsOf(table));
  const Matrix& outputs = answers.outputs;
  const KeptColumns kept = Kept(command, table, answers);
  const std::string gaps = answers.without_answer.Note(outputs.rows(), "have no answer");
  if (command.out.ends_with(".npy")) {
    ToNpy(command.out, answers, command.columns.probabilities);
  } else if (to_stdout) {
    PrintData(PredictionsCsv(model, outputs, command.columns, kept));
    PrintNotes(NotesOn(answers.report, /*asked=*/true), stderr);
    PrintWarning(gaps);
  } else {
    WriteFileAtomically(command.out, PredictionsCsv(model, outputs, command.columns, kept));
  }
  if (!to_stdout && !command.json_output.to_stdout()) {
    PrintNotes(answers.Notes());
    Print("wrote {} predictions to {}\n", outputs.rows(), command.out);
  }
  nlohmann::json result = {
      {"model", command.input.model},
      {"data", command.input.data},
      {"out", command.out},
      {"samples", outputs.rows()},
      {"without_answer", answers.without_answer.rows},
      {"seconds", answers.seconds},
      {"unseen_values", answers.report.unseen_values},
      {"filled_values", answers.report.filled_values},
      {"odd_values", answers.report.odd_values},
      {"far_values", answers.report.far_values},
      {"intervals", command.columns.intervals ? nlohmann::json(model.intervals->half_widths) : nlohmann::json(nullptr)},
      {"weights", WeightStorageName(model.weights)},
      {"backend", backend->name()},
      {"threads", backend->threads()}};
  AddSpeed(result, static_cast<double>(outputs.rows()), answers.seconds);
  command.json_output.Write("predict", std::move(result));
  return kExitOk;
}

}  // namespace

Command AddPredict(CLI::App& app) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* predict = app.add_subcommand("predict", "Predict new rows with a model");
  command->input.AddTo(*predict);
  predict
      ->add_option("--out", command->out, "Write here: .npy for an array, any other name for CSV; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  predict->add_flag("--probabilities", command->columns.probabilities, "Also every class's output (columns p_NAME)");
  predict->add_flag("--intervals", command->columns.intervals,
                    "Also the bounds within which the true value lies with the probability that the model was trained "
                    "for (train --intervals; columns NAME_lower, NAME_upper)");
  AddNamesFlag(*predict, "--keep-columns", command->keep_columns,
               "Columns of the data, by name or number, to write before the answers: an identifier");
  command->json_output.AddTo(*predict);
  predict->footer(
      "The rows need the columns that the model was trained on, by name or in the same order; a target column is not "
      "needed. A row that misses a value keeps its place with an empty answer where the model was trained with "
      "--missing drop, or with that flag here.\nExamples:\n"
      "  lamina predict digits.safetensors new.csv --out answers.csv --probabilities\n"
      "  lamina predict houses.safetensors houses.csv --keep-columns id\n"
      "  zcat new.csv.gz | lamina predict --model digits.safetensors --data -");
  return {predict, [command] {
            command->input.TakePlainFiles();
            return RunPredict(*command);
          }};
}

}  // namespace lamina::cli
