// lamina compare. Two models, or files of predictions, are read, then the rows with their truth. Both sides answer, and
// their differences are printed with intervals. The statistics are lamina/model/compare_models.h's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "config.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/target_encoder.h"
#include "lamina/model/answer.h"
#include "lamina/model/compare_models.h"
#include "lamina/model/training_rows.h"
#include "model_input.h"
#include "print.h"
#include "tables.h"

namespace lamina::cli {
namespace {

struct CompareCommand {
  PlainFiles plain;
  std::string first;
  std::string second;
  ModelInput input;  // of the data, and how models read it
  std::vector<std::string> target;
  std::string task = "auto";
  std::vector<std::string> metrics;
  BootstrapOptions bootstrap;
  JsonOutput json_output;
};

// Models are told from tables of predictions by the name, as a person does.
bool IsTable(const std::string& path) {
  constexpr const char* kEnds[] = {".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt"};
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&](const char* end) { return path.ends_with(end); });
}

// What is asked, by the first model where there is one.
struct Question {
  std::vector<std::string> targets;
  bool classes = false;
};

Question QuestionOf(const CompareCommand& command, const std::optional<Model>& model, const Table& truth,
                    bool probabilities) {
  if (model) {
    const TargetEncoder& targets = model->preprocessor.targets();
    return {targets.names(), targets.task() == Task::kClassification};
  }
  Question question;
  std::vector<int64_t> positions;
  for (const std::string& name : command.target.empty() ? std::vector<std::string>{"-1"} : command.target) {
    positions.push_back(truth.FindColumn(name));
    question.targets.push_back(truth.columns[static_cast<size_t>(positions.back())].name);
  }
  PreprocessOptions options;
  options.task = command.task == "classification" || (probabilities && command.task == "auto") ? Task::kClassification
                 : command.task == "regression"                                                ? Task::kRegression
                                                                                               : Task::kAuto;
  question.classes = TargetEncoder::TaskOf(truth, AllRowsOf(truth), positions, options) == Task::kClassification;
  return question;
}

bool HasProbabilities(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const Column& column) { return column.name.starts_with("p_"); });
}

// `trained`: gets the path of a model that has learned from these rows.
Contestant AnswersOfModel(const CompareCommand& command, const std::string& path, const Backend& backend,
                          std::vector<std::string>& trained) {
  ModelInput input = command.input;
  input.model = path;
  const Model model = input.ReadModel();
  if (!NoteOnTrainingRows(model, input.data).empty()) {
    trained.push_back(path);
  }
  Table table = input.ReadTable(model);
  Answers answers =
      AnswerTable(model, backend, table, input.RowsOf(table), {Truth::kWherePresent, {}, /*scored=*/true});
  if (!answers.evaluation) {
    throw Error(ErrorCode::kBadData, "the data has no rows with the target to compare with", {.file = table.source});
  }
  return {path, std::move(answers.scored), std::move(answers.scored_rows)};
}

// Rows of the data as the program reads them without a model.
Table ReadTruth(const CompareCommand& command) {
  ReadOptions options;
  ReadResult read = ReadData(command.input.data, options);
  return std::move(read.train);
}

void PrintComparison(const CompareCommand& command, const Comparison& comparison) {
  Print(
      "{} that both answer; differences are B - A with 95 % intervals, ! where they leave 0 out\n"
      "A  {}\nB  {}\n",
      Counted(comparison.rows, "row{s}"), command.first, command.second);
  size_t width = 0;
  const auto name = [](const MetricDifference& each) { return MetricName(each.target, each.metric); };
  for (const MetricDifference& each : comparison.metrics) {
    width = std::max(width, name(each).size());
  }
  for (const MetricDifference& each : comparison.metrics) {
    if (!each.reason.empty()) {
      Print("  {:<{}}  undefined: {}\n", name(each), width, each.reason);
      continue;
    }
    const Metric& metric = each.metric;
    const bool sure = each.interval.low > 0 || each.interval.high < 0;
    const bool tested = !std::isnan(each.interval.low);
    Print("  {:<{}}  A {}  B {}  difference {}{}{}\n", name(each), width, metric.ValueText(each.first),
          metric.ValueText(each.second), metric.ValueText(each.difference),
          tested ? fmt::format(" ({} to {}), p = {:.3g}", metric.ValueText(each.interval.low),
                               metric.ValueText(each.interval.high), each.p_value)
                 : "",
          sure ? fmt::format("  ! {} is better", metric.IsBetter(each.second, each.first) ? "B" : "A") : "");
  }
  if (comparison.mcnemar) {
    Print("only A right: {}, only B right: {}; McNemar's exact test: p = {:.3g}\n",
          WithThousands(comparison.mcnemar->only_first), WithThousands(comparison.mcnemar->only_second),
          comparison.mcnemar->p_value);
  }
}

// `trained`: the models that know rows of the data.
void PrintTrained(const std::vector<std::string>& trained, const std::string& data) {
  if (!trained.empty()) {
    PrintNote(stdout, "{} trained on rows of {}: give rows that are new to both\n",
              fmt::format("{} {}", fmt::join(trained, " and "), trained.size() == 1 ? "was" : "were"), data);
  }
}

int RunCompare(const CompareCommand& command) {
  FileUse files = command.input.Files();
  files.AddRead("A", {command.first});
  files.AddRead("B", {command.second});
  command.json_output.Check(std::move(files));
  const std::unique_ptr<Backend> backend = command.input.MakeBackend();
  const std::string* paths[] = {&command.first, &command.second};
  std::optional<Model> model;
  std::optional<Table> predictions[2];
  bool probabilities = false;
  for (int i = 0; i < 2; ++i) {
    if (IsTable(*paths[i])) {
      predictions[i] = ReadTable(*paths[i], {});
      probabilities = probabilities || HasProbabilities(*predictions[i]);
    } else if (!model) {
      ModelInput input = command.input;
      input.model = *paths[i];
      model = input.ReadModel();
    }
  }
  std::optional<Table> truth;
  Question question;
  if (predictions[0] || predictions[1]) {
    truth = model ? command.input.ReadTable(*model) : ReadTruth(command);
    question = QuestionOf(command, model, *truth, probabilities);
  } else {
    question = QuestionOf(command, model, {}, false);
  }
  MetricsFor(command.metrics, question.classes, {});  // before any work
  Contestant contestants[2];
  std::vector<std::string> trained;
  for (int i = 0; i < 2; ++i) {
    contestants[i] = predictions[i] ? ContestantFrom(*predictions[i], *truth, question.targets, question.classes)
                                    : AnswersOfModel(command, *paths[i], *backend, trained);
  }
  const std::vector<Metric> metrics = MetricsFor(command.metrics, question.classes, LevelsOf(contestants[0].targets));
  const Comparison comparison = Compare(contestants[0], contestants[1], metrics, command.bootstrap);
  if (!command.json_output.to_stdout()) {
    PrintComparison(command, comparison);
    PrintTrained(trained, command.input.data);
  }
  nlohmann::json result = ToJson(comparison);
  result["A"] = command.first;
  result["B"] = command.second;
  result["data"] = command.input.data;
  command.json_output.Write("compare", std::move(result));
  return kExitOk;
}

}  // namespace

Command AddCompare(CLI::App& app) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App* compare = app.add_subcommand("compare", "Tell whether one model is better than another on the same rows");
  command->plain.AddTo(*compare, "A, B and the data: models, or CSV files of predictions for these rows");
  compare->add_option("--first", command->first, "A: a model file, or a CSV file of predictions")->type_name("FILE");
  compare->add_option("--second", command->second, "B")->type_name("FILE");
  command->input.AddDataTo(*compare);
  AddNamesFlag(*compare, "--target", command->target,
               "Where both are files of predictions: the target column(s) of the data; default: the last one");
  compare
      ->add_option("--task", command->task, "Where both are files of predictions: auto, classification or regression")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "classification", "regression"}));
  compare
      ->add_option(
          "--metrics", command->metrics,
          fmt::format("Metrics to compare, or all: {}; default: the usual ones", fmt::join(MetricNames(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B,...");
  compare->add_option("--resamples", command->bootstrap.resamples, "Resamples of the rows (bootstrap); 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  compare->add_option("--seed", command->bootstrap.seed, "Seed of the resamples")->capture_default_str();
  command->json_output.AddTo(*compare);
  compare->footer(
      "Files ending in .csv, .tsv or .txt (also .gz) hold predictions, as predict --probabilities and train "
      "--out-of-fold write them; others are models. Use rows that neither was trained on.\nExamples:\n"
      "  lamina compare folds.csv houses.safetensors houses.csv\n"
      "  lamina compare folds.csv folds.csv houses.csv --target price --metrics all");
  return {compare, [command] {
            command->plain.Fill(
                {{"--first", &command->first}, {"--second", &command->second}, {"--data", &command->input.data}});
            return RunCompare(*command);
          }};
}

}  // namespace lamina::cli
