// lamina predict.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/timing.h"
#include "lamina/data/npy_writer.h"
#include "lamina/train/predictions.h"
#include "model_input.h"
#include "tables.h"

namespace lamina::cli {
namespace {

struct PredictCommand {
  ModelInput input;
  std::string out = "-";
  bool probabilities = false;
  JsonOutput json_output;
};

// Class numbers as i64, or outputs as f64.
void ToNpy(const std::string& path, const Model& model, const Matrix& outputs, bool probabilities) {
  if (model.preprocessor.task() == Task::kRegression || probabilities) {
    WriteNpy(path, outputs.view());
    return;
  }
  const std::vector<int32_t> predicted = ClassesOf(model, outputs);
  const std::vector<int64_t> wide(predicted.begin(), predicted.end());
  WriteNpy(path, ViewOf(wide.data(), outputs.rows(), 1));
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
  const Model model = LoadModel(command.input.model);
  const std::unique_ptr<Backend> backend = command.input.MakeBackend();
  const Table table = command.input.ReadTableFor(model);
  EncodeReport report;
  const std::vector<int64_t> rows = command.input.RowsOf(table);
  const Dataset dataset = model.preprocessor.EncodeInputs(table, rows, model.network.dtype(), &report);
  RequireAllRows(table, rows, dataset);
  const Stopwatch watch;
  const Matrix outputs = PredictRows(model, *backend, dataset.features);
  const double seconds = watch.Elapsed_seconds();
  if (command.out.ends_with(".npy")) {
    ToNpy(command.out, model, outputs, command.probabilities);
  } else if (to_stdout) {
    fmt::print("{}", PredictionsCsv(model, outputs, command.probabilities));
  } else {
    WriteFileAtomically(command.out, PredictionsCsv(model, outputs, command.probabilities));
  }
  if (!to_stdout && !command.json_output.to_stdout()) {
    PrintUnseen(report);
    fmt::print("wrote {} predictions to {}\n", outputs.rows(), command.out);
  }
  nlohmann::json result = {{"model", command.input.model}, {"data", command.input.data},
                           {"out", command.out},           {"samples", outputs.rows()},
                           {"seconds", seconds},           {"unseen_values", report.unseen_values},
                           {"backend", backend->name()},   {"threads", backend->threads()}};
  AddSpeed(result, static_cast<double>(outputs.rows()), seconds);
  command.json_output.Write("predict", std::move(result));
  return kExitOk;
}

}  // namespace

Command AddPredict(CLI::App& app) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* predict = app.add_subcommand("predict", "Answer raw rows with a model");
  command->input.AddTo(*predict);
  predict
      ->add_option("--out", command->out, "Write here: .npy for an array, any other name for CSV; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  predict->add_flag("--probabilities", command->probabilities, "Also every class's output (columns p_NAME)");
  command->json_output.AddTo(*predict);
  predict->footer(
      "The rows need the columns that the model was trained on, by name or in the same order; a target column is not "
      "needed.\nExample: lamina predict --model digits.safetensors --data new.csv --out answers.csv --probabilities");
  return {predict, [command] { return RunPredict(*command); }};
}

}  // namespace lamina::cli
