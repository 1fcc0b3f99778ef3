// lamina explain. Model and rows are read and encoded; importance, dependence and single rows are computed as asked.
// Then text, table and pictures are written. The numbers are lamina/model/explain.h's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/list_text.h"
#include "lamina/base/text.h"
#include "lamina/model/answer.h"
#include "lamina/report/explain_report.h"
#include "lamina/run/command_line.h"
#include "model_input.h"
#include "pictures.h"
#include "print.h"
#include "tables.h"

namespace lamina::cli {
namespace {

constexpr size_t kPicturedColumns = 4;  // whose dependence is drawn where none is asked for
constexpr size_t kPrintedShares = 10;

struct ExplainCommand {
  ModelInput input;
  std::string metric;
  int64_t repeats = 5;
  std::vector<std::string> dependence;
  std::vector<int64_t> rows;
  ShapleyOptions shapley;
  std::string out;
  PictureOutput pictures;
  JsonOutput json_output;
};

void PrintImportance(const Importance& importance) {
  const bool learned = HasLearnedWeights(importance);
  Print("{} {}; by how much worse where a column is shuffled{}:\n", importance.metric.Title(),
        importance.metric.ValueText(importance.value), learned ? ", and its learned weight in distances" : "");
  const size_t shown = std::min(kShownColumns, importance.columns.size());
  size_t width = 0;
  for (size_t i = 0; i < shown; ++i) {
    width = std::max(width, Cell(importance.columns[i].column).size());
  }
  for (size_t i = 0; i < shown; ++i) {
    const ColumnImportance& column = importance.columns[i];
    Print("  {:<{}}  {}{}{}\n", Cell(column.column), width, importance.metric.ValueText(column.mean),
          std::isnan(column.deviation) ? "" : " ± " + importance.metric.ValueText(column.deviation),
          learned ? fmt::format("  {:.2g}", column.weight) : "");
  }
  if (shown < importance.columns.size()) {
    Print("  ... and {} more (--out has all)\n", importance.columns.size() - shown);
  }
}

void PrintDependence(const Dependence& dependence, const std::vector<std::string>& outputs) {
  Print("\nmean answer if every row had this {}:\n", dependence.column);
  size_t width = Cell(dependence.column).size();
  for (const Dependence::Point& point : dependence.points) {
    width = std::max(width, Cell(point.text).size());
  }
  Print("  {:<{}}", Cell(dependence.column), width);
  for (const std::string& output : outputs) {
    Print("  {:>12.12}", output);
  }
  Print("\n");
  for (const Dependence::Point& point : dependence.points) {
    Print("  {:<{}}", Cell(point.text), width);
    for (const double answer : point.outputs) {
      Print("  {:>12}", FigureText(answer));
    }
    Print("\n");
  }
}

void PrintExplanation(const Explanation& row) {
  Print("\nrow {} (counted from 0): {} {}; on average {}, and\n", row.row, row.output, FigureText(row.answer),
        FigureText(row.base));
  const size_t shown = std::min(kPrintedShares, row.shares.size());
  const auto name = [](const Explanation::Share& share) { return Cell(share.column) + " = " + Cell(share.value); };
  double rest = 0;
  size_t width = 0;
  for (size_t i = 0; i < row.shares.size(); ++i) {
    const Explanation::Share& share = row.shares[i];
    width = i < shown ? std::max(width, name(share).size()) : width;
    rest += i < shown ? 0 : share.share;
  }
  for (size_t i = 0; i < shown; ++i) {
    const Explanation::Share& share = row.shares[i];
    Print("  {:<{}}  {}{}{}\n", name(share), width, share.share < 0 ? "" : "+", FigureText(share.share),
          std::isnan(share.error) ? "" : " ± " + FigureText(share.error));
  }
  if (shown < row.shares.size()) {
    Print("  {:<{}}  {}{}\n", fmt::format("{} others", row.shares.size() - shown), width, rest < 0 ? "" : "+",
          FigureText(rest));
  }
}

// Places of rows of the table in the rows that can be encoded.
int64_t PlaceOf(int64_t row, const Dataset& data, const Table& table) {
  const auto found = std::find(data.rows.begin(), data.rows.end(), row);
  if (found == data.rows.end()) {
    const bool there = row >= 0 && row < table.rows;
    throw Error(ErrorCode::kInvalidArgument,
                there ? "--rows: this row misses a value, or is not among those used" : "--rows: there is no such row",
                {.file = table.source,
                 .value = fmt::format("{}", row),
                 .remedy = fmt::format("Rows count from 0 to {}.", table.rows - 1)});
  }
  return found - data.rows.begin();
}

// With the dependences asked for, or of the most important columns where there are pictures.
ExplainReportInput Explain(const ExplainCommand& command, const ExplainedRows& rows, const Metric& metric,
                           const Table& table) {
  ExplainReportInput found{
      command.input.model,
      command.input.data,
      fmt::format("lamina explain {} {}", ShellWord(command.input.model), ShellWord(command.input.data)),
      OutputNames(rows.model),
      PermutationImportance(rows, metric, command.repeats, command.shapley.seed),
      {},
      {}};
  std::vector<std::string> dependence = command.dependence;
  for (size_t i = 0; command.dependence.empty() && command.pictures.wanted() && i < kPicturedColumns; ++i) {
    if (i < found.importance.columns.size()) {
      dependence.push_back(found.importance.columns[i].column);
    }
  }
  for (const std::string& column : dependence) {
    found.dependences.push_back(PartialDependence(rows, column));
  }
  for (const int64_t row : command.rows) {
    found.explanations.push_back(ShapleyValues(rows, PlaceOf(row, rows.data, table), command.shapley));
  }
  return found;
}

void PrintFound(const ExplainCommand& command, const ExplainReportInput& found) {
  PrintImportance(found.importance);
  for (const Dependence& each : found.dependences) {
    if (!command.dependence.empty()) {
      PrintDependence(each, found.outputs);
    }
  }
  for (const Explanation& row : found.explanations) {
    PrintExplanation(row);
  }
  if (!command.out.empty()) {
    Print("wrote {}\n", command.out);
  }
}

int RunExplain(const ExplainCommand& command) {
  FileUse files = command.input.Files();
  files.written.push_back({"--out", command.out});
  command.json_output.Check(std::move(files));
  command.pictures.Check();
  RequirePlotFolder(
      command.pictures.plot,
      ExplainPlotIds(command.dependence.empty() ? kPicturedColumns : command.dependence.size(), command.rows.size()));
  const Model model = command.input.ReadModel();
  const std::unique_ptr<Backend> backend = command.input.MakeBackend();
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  const Metric metric =
      command.metric.empty()
          ? MetricForImportance(model)
          : MetricsFor({&command.metric, 1}, classes, model.preprocessor.targets().form().quantiles, "metric").front();
  Table table = command.input.ReadTable(model);
  model.preprocessor.Prepare(table);
  const BoundTable bound(model.preprocessor, table);
  const Dataset data = bound.Encode(bound.RowsWithTargets(command.input.RowsOf(table)), model.network.dtype());
  if (data.size() < 2) {
    throw Error(ErrorCode::kBadData, "explaining needs at least two rows with their targets", {.file = table.source});
  }
  const ExplainedRows rows{model, *backend, bound, data};
  const ExplainReportInput found = Explain(command, rows, metric, table);
  if (!command.out.empty()) {
    WriteFileAtomically(command.out, ImportanceCsv(found.importance));
  }
  const bool text = !command.json_output.to_stdout();
  if (text) {
    PrintFound(command, found);
  }
  nlohmann::json result = {{"model", command.input.model},
                           {"data", command.input.data},
                           {"rows", data.size()},
                           {"importance", ToJson(found.importance)},
                           {"dependence", nlohmann::json::array()},
                           {"explanations", nlohmann::json::array()}};
  for (const Dependence& each : found.dependences) {
    result["dependence"].push_back(ToJson(each, found.outputs));
  }
  for (const Explanation& row : found.explanations) {
    result["explanations"].push_back(ToJson(row));
  }
  if (command.pictures.wanted()) {
    command.pictures.Write(ReportExplanation(found), text, result);
  }
  command.json_output.Write("explain", std::move(result));
  return kExitOk;
}

}  // namespace

Command AddExplain(CLI::App& app) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* explain = app.add_subcommand("explain", "Say which columns a model's answers depend on, and how");
  command->input.AddTo(*explain);
  explain
      ->add_option("--metric", command->metric,
                   "What a shuffled column makes worse; default: log_loss for probabilities, else accuracy; rmse")
      ->type_name("TEXT");
  explain->add_option("--repeats", command->repeats, "Times that each column is shuffled")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  AddNamesFlag(*explain, "--dependence", command->dependence,
               "Partial dependence: the mean answer over the values of these columns");
  explain
      ->add_option("--rows", command->rows,
                   "Shapley values of these rows, counted from 0: which columns moved their answers from the average")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,N,...");
  explain
      ->add_option("--permutations", command->shapley.samples,
                   "--rows: pairs of an order of the columns and its reverse that are averaged over")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  explain->add_option("--seed", command->shapley.seed, "Seed of shuffling and permutations")->capture_default_str();
  explain->add_option("--out", command->out, "Write the importance of every column to this file, as CSV")
      ->type_name("FILE");
  command->pictures.AddTo(*explain);
  command->json_output.AddTo(*explain);
  explain->footer(
      "The rows need their targets. Columns are those of the table, whatever they are encoded to. Use rows that the "
      "model was not trained on; a column that another one repeats shows little importance.\nExamples:\n"
      "  lamina explain houses.safetensors houses.csv\n"
      "  lamina explain houses.safetensors houses.csv --dependence area,age --rows 0,17 --plot pictures");
  return {explain, [command] {
            command->input.TakePlainFiles();
            return RunExplain(*command);
          }};
}

}  // namespace lamina::cli
