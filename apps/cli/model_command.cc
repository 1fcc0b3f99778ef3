// lamina model: what a model file holds.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/model/metric.h"
#include "lamina/model/model.h"
#include "lamina/run/command_line.h"
#include "lamina/settings/settings.h"
#include "print.h"
#include "tables.h"

namespace lamina::cli {
namespace {

using nlohmann::json;

constexpr size_t kShownInputs = 60;
constexpr size_t kShownCategories = 8;

struct ShowModelCommand {
  std::string model;
  JsonOutput json_output;
};

std::string ValuesText(const FittedColumn& column) {
  if (column.kind == ColumnKind::kText) {
    const size_t shown = std::min(kShownCategories, column.categories.size());
    return fmt::format(
        "{} texts: {}{}", column.categories.size(),
        fmt::join(column.categories.begin(), column.categories.begin() + static_cast<ptrdiff_t>(shown), ", "),
        shown < column.categories.size() ? ", ..." : "");
  }
  std::string text;
  if (column.span) {
    text = column.is_date ? fmt::format("{} to {}", DateText(column.span->low), DateText(column.span->high))
                          : fmt::format("{} to {}", FigureText(column.span->low), FigureText(column.span->high));
  }
  const std::string format = column.format.Text();
  return text + (format.empty() ? "" : fmt::format("{}({})", text.empty() ? "" : " ", format));
}

std::string KindOf(const FittedColumn& column) {
  return column.kind == ColumnKind::kText ? "text" : column.is_date ? "date" : "number";
}

void PrintInputs(const Preprocessor& preprocessor) {
  const std::vector<FittedColumn>& columns = preprocessor.inputs().columns();
  if (preprocessor.inputs().is_image()) {
    Print("inputs: images of {} x {} pixels\n", preprocessor.inputs().image_height(),
          preprocessor.inputs().image_width());
    return;
  }
  size_t width = 6;
  for (const FittedColumn& column : columns) {
    width = std::max(width, Cell(column.name).size());
  }
  Print("{:<{}}  {:<6}  {}\n", "input", width, "kind", "in training");
  for (size_t i = 0; i < std::min(kShownInputs, columns.size()); ++i) {
    const std::string line =
        fmt::format("{:<{}}  {:<6}  {}", Cell(columns[i].name), width, KindOf(columns[i]), ValuesText(columns[i]));
    Print("{}\n", std::string_view(line).substr(0, line.find_last_not_of(' ') + 1));
  }
  if (columns.size() > kShownInputs) {
    Print("... and {} more\n", columns.size() - kShownInputs);
  }
  for (const std::string& derived : preprocessor.derive().columns) {
    Print("computed: {}\n", derived);
  }
  for (const LeftOutColumn& column : preprocessor.left_out()) {
    Print("not used: {} ({})\n", column.name, column.reason);
  }
}

// What the training left in the file; any part may be missing in a model made through the library.
void PrintTraining(const json& training) {
  if (training.contains("settings")) {
    TrainSettings settings = TrainSettingsFromJson(training["settings"]);
    Print("trained on {}", settings.data);
    if (training.contains("rows")) {
      const json& rows = training["rows"];
      Print(": {} training, {} validation and {}", WithThousands(rows.value("train", int64_t{0})),
            WithThousands(rows.value("validation", int64_t{0})),
            Counted(rows.value("test", int64_t{0}), "test row{s}"));
    }
    Print("\nby: {}\n", TrainCommandLine(settings, training));
  }
  if (training.contains("epochs")) {
    Print("{}, best epoch {}{}\n", Counted(training["epochs"].get<int64_t>(), "epoch{s}"),
          training.value("best_epoch", int64_t{0}),
          training.contains("batch") ? fmt::format(", batch {}", training["batch"].get<int64_t>()) : "");
  }
  if (training.contains("test")) {
    const json& test = training["test"];
    if (test.contains("accuracy")) {
      Print("test: accuracy {} %\n", PercentText(NumberOrNan(test, "accuracy")));
    }
    for (const json& target : test.value("targets", json::array())) {
      Print("test: {}: RMSE {}, R² {:.5f}\n", target.value("name", ""), FigureText(NumberOrNan(target, "rmse")),
            NumberOrNan(target, "r2"));
    }
  }
}

// What was found out about its answers.
void PrintJudged(const Model& model) {
  const json folds = model.training.value("cross_validation", json::object());
  for (const json& metric : folds.value("metrics", json::array())) {
    const Metric known = Metric::Parse(metric.at("name").get<std::string>());
    const auto number = [&](const char* field) {
      return metric.at(field).is_null() ? kNaN : metric.at(field).get<double>();
    };
    Print("{} folds: {}{} {} ± {}\n", folds.at("folds").size(),
          metric.contains("target") ? metric["target"].get<std::string>() + ": " : "", known.Title(),
          known.ValueText(number("mean")), known.ValueText(number("deviation")));
  }
  if (model.training.contains("calibration")) {
    Print("calibrated: temperature {:.4g}\n", model.training["calibration"].value("temperature", kNaN));
  }
  if (model.intervals) {
    const std::vector<std::string> names = model.preprocessor.targets().answer_names();
    for (size_t j = 0; j < names.size(); ++j) {
      Print("{:g} % intervals: {} ± {}\n", 100 * model.intervals->level, names[j],
            FigureText(model.intervals->half_widths[j]));
    }
  }
}

json InputsJson(const Preprocessor& preprocessor) {
  json inputs = json::array();
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    json node = {{"name", column.name}, {"kind", KindOf(column)}};
    if (column.kind == ColumnKind::kText) {
      node["categories"] = column.categories;
    } else if (column.span) {
      node["minimum"] = column.span->low;
      node["maximum"] = column.span->high;
    }
    if (!column.format.unit.empty()) {
      node["unit"] = column.format.unit;
    }
    inputs.push_back(std::move(node));
  }
  return inputs;
}

int RunShowModel(const ShowModelCommand& command) {
  FileUse files;
  files.AddRead("MODEL", {command.model});
  command.json_output.Check(std::move(files));
  const Model model = LoadModel(command.model);
  const Preprocessor& preprocessor = model.preprocessor;
  const TargetEncoder& targets = preprocessor.targets();
  if (!command.json_output.to_stdout()) {
    Print("{}: network {} ({}), {} parameters, {}, loss {}\n", command.model, model.ShapeText(),
          ActivationsText(model.network), WithThousands(model.parameter_count()), DTypeName(model.network.dtype()),
          model.loss.Text());
    for (int64_t i = 0; i < model.networks() && !model.others.empty(); ++i) {
      Print("  {}: {} ({})\n", model.gates ? "by the row" : fmt::format("{:.3g} of the answer", model.share_of(i)),
            model.network_at(i).ShapeText(), ActivationsText(model.network_at(i)));
    }
    if (model.gates) {
      Print("  shares by gates {} ({})\n", model.gates->ShapeText(), ActivationsText(*model.gates));
    }
    Print("answers: {}\n", TargetText(model));
    if (!targets.class_names().empty()) {
      Print("classes: {}\n", fmt::join(targets.class_names(), ", "));
    }
    PrintInputs(preprocessor);
    PrintTraining(model.training);
    PrintJudged(model);
  }
  json left_out = json::array();
  for (const LeftOutColumn& column : preprocessor.left_out()) {
    left_out.push_back({{"name", column.name}, {"reason", column.reason}});
  }
  command.json_output.Write("model show", {{"model", command.model},
                                           {"network", model.ShapeText()},
                                           {"networks", model.networks()},
                                           {"shares", model.shares},
                                           {"parameters", model.parameter_count()},
                                           {"dtype", DTypeName(model.network.dtype())},
                                           {"loss", model.loss.Text()},
                                           {"targets", targets.names()},
                                           {"classes", targets.class_names()},
                                           {"inputs", InputsJson(preprocessor)},
                                           {"left_out", std::move(left_out)},
                                           {"training", model.training}});
  return kExitOk;
}

}  // namespace

Command AddModel(CLI::App& app) {
  CLI::App* model = app.add_subcommand("model", "Look into a model file");
  model->require_subcommand(1);
  auto show = std::make_shared<ShowModelCommand>();
  CLI::App* show_app = model->add_subcommand(
      "show", "The inputs it expects with their ranges, its classes, how it was trained and what came out");
  show_app->add_option("--model,model", show->model, "Model file written by lamina train")
      ->required()
      ->type_name("FILE");
  show->json_output.AddTo(*show_app);
  show_app->footer("Example: lamina model show digits.safetensors");
  return {model, [show] { return RunShowModel(*show); }};
}

}  // namespace lamina::cli
