// lamina evaluate. Files are checked, model, costs and rows are read, and rows are answered. Metrics and pictures of
// the answers follow. Reading is left to model_input.cc, numbers to lamina/model, pictures to lamina/report.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "lamina/backend/backends.h"
#include "lamina/base/list_text.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/report_text.h"
#include "lamina/model/answer.h"
#include "lamina/model/intervals.h"
#include "lamina/model/training_rows.h"
#include "lamina/model/weight_effect.h"
#include "lamina/run/command_line.h"
#include "lamina/run/remarks.h"
#include "lamina/run/result_json.h"
#include "model_input.h"
#include "pictures.h"
#include "print.h"
#include "tables.h"

namespace lamina::cli {
namespace {

struct EvaluateCommand {
  ModelInput input;
  std::string cost_matrix;
  std::vector<std::string> metrics;
  BootstrapOptions bootstrap;
  PictureOutput pictures;
  JsonOutput json_output;
};

// Where --weights rounds: the answers beside those of the weights in the file.
std::optional<WeightEffect> EffectOfWeights(const EvaluateCommand& command, const Model& model, const Backend& backend,
                                            Table& table, const Answers& answers) {
  if (command.input.weights.empty() || model.weights == WeightStorage::kExact) {
    return std::nullopt;
  }
  const Model of_file = command.input.ReadModelOfFile();
  const Answers before = AnswerTable(of_file, backend, table, answers.rows, {Truth::kRequired, {}});
  return CompareWeights(of_file, before, model, answers);
}

void PrintCoverage(const Model& model, const std::vector<ScoredRows>& scored, const std::string& what) {
  if (!model.intervals) {
    return;
  }
  const std::vector<double> shares = CoverageOf(*model.intervals, scored);
  for (size_t j = 0; j < shares.size(); ++j) {
    Print("{}: {} ± {} holds {} % of the true values (meant: {:g} %)\n", what, scored[j].target,
          FigureText(model.intervals->half_widths[j]), PercentText(shares[j]), 100 * model.intervals->level);
  }
}

void PrintFound(const EvaluateCommand& command, const Model& model, const Answers& answers,
                const std::optional<WeightEffect>& effect) {
  const Evaluation& evaluation = *answers.evaluation;
  PrintNotes(NotesOn(answers.report, /*asked=*/true));
  PrintNote(NewLabelsNote(answers.report));
  PrintNote(answers.not_evaluated.Note(std::ssize(answers.rows), "were left out"));
  PrintEvaluation(command.input.data, evaluation, /*details=*/true);
  if (evaluation.classification) {
    for (const std::string& text : NeverPredicted(*evaluation.classification)) {
      PrintNote(text);
    }
  }
  PrintMetrics(evaluation.metrics);
  PrintCoverage(model, answers.scored, command.input.data);
  PrintNote(NoteOnTrainingRows(model, command.input.data));
  if (effect) {
    Print("{}\n", effect->Text());
  }
}

nlohmann::json ResultOf(const EvaluateCommand& command, const Model& model, const Backend& backend,
                        const Answers& answers, const std::optional<WeightEffect>& effect) {
  const Evaluation& evaluation = *answers.evaluation;
  nlohmann::json result = ToJson(evaluation);
  result["model"] = command.input.model;
  result["data"] = command.input.data;
  result["backend"] = backend.name();
  result["threads"] = backend.threads();
  result["left_out"] = answers.not_evaluated.rows;
  result["unseen_values"] = answers.report.unseen_values;
  result["filled_values"] = answers.report.filled_values;
  result["far_values"] = answers.report.far_values;
  result["new_labels"] = NewLabelsJson(answers.report);
  result["weights"] = effect ? ToJson(*effect) : nlohmann::json{{"storage", WeightStorageName(model.weights)}};
  result["seconds"] = evaluation.seconds;
  if (model.intervals) {
    result["coverage"] = CoverageOf(*model.intervals, answers.scored);
  }
  AddSpeed(result, static_cast<double>(evaluation.samples), evaluation.seconds);
  return result;
}

int RunEvaluate(const EvaluateCommand& command) {
  FileUse files = command.input.Files();
  files.AddRead("--cost-matrix", {CostMatrix::FileOf(command.cost_matrix)});
  command.json_output.Check(std::move(files));
  command.pictures.Check();
  const Model model = command.input.ReadModel();
  const TargetEncoder& targets = model.preprocessor.targets();
  command.pictures.CheckPlots(model.preprocessor, /*trained=*/false);
  const std::vector<Metric> metrics =
      MetricsFor(command.metrics, targets.task() == Task::kClassification, targets.form().quantiles);
  const std::unique_ptr<Backend> backend = command.input.MakeBackend();
  CostMatrix costs;
  if (!command.cost_matrix.empty()) {
    costs = CostMatrix::Read(command.cost_matrix);
    RequireCosts(costs, model);
  }
  Table table = command.input.ReadTable(model);
  Answers answers = AnswerTable(model, *backend, table, command.input.RowsOf(table),
                                {Truth::kRequired, std::move(costs), /*scored=*/true});
  Evaluation& evaluation = *answers.evaluation;
  if (!command.metrics.empty()) {
    evaluation.metrics = MeasureMetrics(metrics, answers.scored, command.bootstrap);
  }
  const std::optional<WeightEffect> effect = EffectOfWeights(command, model, *backend, table, answers);
  if (!command.json_output.to_stdout()) {
    PrintFound(command, model, answers, effect);
  }
  nlohmann::json result = ResultOf(command, model, *backend, answers, effect);
  if (command.pictures.wanted()) {
    const EvaluationReportInput input{command.input.model, command.input.data,
                                      fmt::format("lamina evaluate --model {} --data {}",
                                                  ShellWord(command.input.model), ShellWord(command.input.data))};
    command.pictures.Write(ReportEvaluation(input, model, *backend, evaluation), !command.json_output.to_stdout(),
                           result);
  }
  command.json_output.Write("evaluate", std::move(result));
  return kExitOk;
}

}  // namespace

Command AddEvaluate(CLI::App& app) {
  auto command = std::make_shared<EvaluateCommand>();
  CLI::App* evaluate = app.add_subcommand("evaluate", "Measure a model on data with known answers");
  command->input.AddTo(*evaluate);
  evaluate
      ->add_option("--cost-matrix", command->cost_matrix,
                   "Classification: what each mistake costs, a CSV file (a line for each class with its costs, the "
                   "header names the predicted classes) or kddcup99; default: that of the training")
      ->type_name("FILE");
  evaluate
      ->add_option("--metrics", command->metrics,
                   fmt::format("Further metrics, or all: {}; pinball:0.9 is for the quantile 0.9",
                               fmt::join(MetricNames(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B,...");
  evaluate
      ->add_option("--resamples", command->bootstrap.resamples,
                   "--metrics: resamples of the rows for the 95 % intervals (bootstrap); 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  evaluate->add_option("--seed", command->bootstrap.seed, "Seed of the resamples")->capture_default_str();
  command->pictures.AddTo(*evaluate);
  command->json_output.AddTo(*evaluate);
  evaluate->footer(
      "Prints accuracy, precision, recall and F1 per class and the confusion matrix, or the errors of a regression.\n"
      "With --weights also what rounding the weights changes.\n"
      "Examples:\n"
      "  lamina evaluate digits.safetensors data/digits.csv.gz\n"
      "  lamina evaluate digits.safetensors data/digits.csv.gz --metrics all");
  return {evaluate, [command] {
            command->input.TakePlainFiles();
            return RunEvaluate(*command);
          }};
}

}  // namespace lamina::cli
