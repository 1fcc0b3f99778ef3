// lamina drift. The model and new rows are read, and each column is compared with its profile from training. The
// verdicts are lamina/model/drift.h's.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/model/drift.h"
#include "model_input.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct DriftCommand {
  ModelInput input;
  JsonOutput json_output;
};

void PrintDrift(const std::vector<ColumnDrift>& drifts) {
  size_t width = 6;
  for (const ColumnDrift& drift : drifts) {
    width = std::max(width, Cell(drift.column).size());
  }
  Print("{:<{}}  {:>7}  {:>9}  {:>9}  {:>8}  {:>18}\n", "column", width, "PSI", "distance", "outside %", "unseen %",
        "missing % (before)");
  for (const ColumnDrift& drift : drifts) {
    Print("{:<{}}  {:>7.3f}  {:>9.3f}  {:>9}  {:>8}  {:>18}  {}\n", Cell(drift.column), width, drift.stability_index,
          drift.distance, PercentText(drift.outside), PercentText(drift.unseen),
          fmt::format("{} ({})", PercentText(drift.missing), PercentText(drift.missing_before)),
          drift.verdict == DriftVerdict::kSame ? "" : DriftVerdictName(drift.verdict));
  }
}

int RunDrift(const DriftCommand& command) {
  command.json_output.Check(command.input.Files());
  const Model model = command.input.ReadModel();
  if (model.profile.columns.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the model does not know how its training data was distributed",
                {.file = command.input.model,
                 .remedy = "Train it again with this lamina; models of images and of very many columns keep nothing."});
  }
  Table table = command.input.ReadTable(model);
  model.preprocessor.Prepare(table);
  const BoundTable bound(model.preprocessor, table);
  const std::vector<int64_t> rows = command.input.RowsOf(table);
  if (rows.empty()) {
    throw Error(ErrorCode::kBadData, "there are no rows", {.file = table.source});
  }
  const std::vector<ColumnDrift> drifts = CompareWithProfile(model.profile, bound, model.preprocessor, rows);
  const auto count = [&](DriftVerdict verdict) {
    return std::count_if(drifts.begin(), drifts.end(),
                         [&](const ColumnDrift& drift) { return drift.verdict == verdict; });
  };
  const int64_t drifted = count(DriftVerdict::kDrifted);
  const int64_t shifted = count(DriftVerdict::kShifted);
  if (!command.json_output.to_stdout()) {
    PrintDrift(drifts);
    Print("{}: {} against {} of the training: {} of {} columns drifted, {} shifted\n", command.input.data,
          Counted(std::ssize(rows), "row{s}"), WithThousands(model.profile.rows), drifted, drifts.size(), shifted);
  }
  nlohmann::json columns = nlohmann::json::array();
  for (const ColumnDrift& drift : drifts) {
    columns.push_back(ToJson(drift));
  }
  command.json_output.Write("drift", {{"model", command.input.model},
                                      {"data", command.input.data},
                                      {"rows", rows.size()},
                                      {"training_rows", model.profile.rows},
                                      {"drifted", drifted},
                                      {"shifted", shifted},
                                      {"columns", std::move(columns)}});
  return kExitOk;
}

}  // namespace

Command AddDrift(CLI::App& app) {
  auto command = std::make_shared<DriftCommand>();
  CLI::App* drift = app.add_subcommand("drift", "Compare new data with a model's training data, column by column");
  command->input.AddTo(*drift);
  command->json_output.AddTo(*drift);
  drift->footer(
      "PSI is the population stability index over the training rows' tenths or categories: above 0.1 a column has "
      "shifted, above 0.25 drifted, beyond what few rows explain. The rows need no target.\n"
      "Example: lamina drift houses.safetensors houses.csv");
  return {drift, [command] {
            command->input.TakePlainFiles();
            return RunDrift(*command);
          }};
}

}  // namespace lamina::cli
