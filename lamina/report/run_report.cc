// Pictures and reports of runs.
#include "lamina/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/run/command_line.h"

namespace lamina {
namespace {

constexpr size_t kMostTargets = 8;
constexpr int64_t kMostTiles = 60;
constexpr size_t kMostInputNames = 40;

using Field = double EpochRecord::*;

std::string SuffixOfTarget(size_t j) { return j == 0 ? "" : fmt::format("-{}", j + 1); }

PlotSeries SeriesOf(const History& history, const std::string& name, Field field) {
  PlotSeries series{name, {}, false};
  for (const EpochRecord& record : history.epochs) {
    if (std::isfinite(record.*field)) {
      series.points.emplace_back(static_cast<double>(record.epoch), record.*field);
    }
  }
  return series;
}

std::vector<PlotSeries> Drawn(std::vector<PlotSeries> all) {
  std::erase_if(all, [](const PlotSeries& series) { return series.points.empty(); });
  return all;
}

// A title has no room for folders: the last part of a path.
std::string NameOfData(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::vector<Plot> RegressionPlots(const Evaluation& evaluation, const std::string& subtitle) {
  std::vector<Plot> plots;
  for (size_t j = 0; j < std::min(evaluation.regression.size(), kMostTargets); ++j) {
    const std::string& name = evaluation.regression[j].name;
    const std::string suffix = SuffixOfTarget(j);
    ScatterChart truth{"truth" + suffix,
                       "Predicted against true " + name,
                       subtitle,
                       "true " + name,
                       "predicted " + name,
                       {},
                       ScatterChart::Guide::kDiagonal};
    ScatterChart residuals{"residuals" + suffix,      "Residuals of " + name, subtitle,
                           "predicted " + name,       "true - predicted",     {},
                           ScatterChart::Guide::kZero};
    truth.points = evaluation.points[j];
    for (const auto& [y, a] : evaluation.points[j]) {
      residuals.points.emplace_back(a, y - a);
    }
    plots.push_back(PlotScatter(truth));
    plots.push_back(PlotScatter(residuals));
  }
  return plots;
}

ReportCell Share(double value) {
  return std::isnan(value) ? ReportCell("-") : ReportCell(value, PercentText(value) + " %");
}

ReportCell Count(int64_t value) { return {static_cast<double>(value), WithThousands(value)}; }

ReportTable ClassTable(const ClassificationMetrics& metrics) {
  ReportTable table{
      "classes",
      "Classes",
      {{"class", "class"}, {"rows", "rows"}, {"precision", "precision"}, {"recall", "recall"}, {"f1", "F1"}},
      {},
      "",
      true};
  for (const ClassMetrics& row : metrics.classes) {
    table.rows.push_back({row.name, Count(row.support), Share(row.precision), Share(row.recall), Share(row.f1)});
  }
  return table;
}

ReportTable ConfusionTable(const ClassificationMetrics& metrics) {
  ReportTable table{
      "confusion", "Confusion matrix: a row is the true class, a column the predicted one", {{"class", ""}}, {}, "",
      true};
  for (size_t t = 0; t < metrics.classes.size(); ++t) {
    table.columns.push_back({metrics.classes[t].name, metrics.classes[t].name});
    table.rows.push_back({metrics.classes[t].name});
    for (const int64_t count : metrics.confusion[t]) {
      table.rows.back().push_back(Count(count));
    }
  }
  return table;
}

HtmlSection MetricsSection(const std::string& title, const Evaluation& evaluation) {
  HtmlSection section{title, {{"rows", WithThousands(evaluation.samples)}}, {}, {}, "", false};
  if (evaluation.classification) {
    const ClassificationMetrics& metrics = *evaluation.classification;
    section.facts.emplace_back("accuracy", Share(metrics.accuracy).text);
    section.facts.emplace_back("macro F1", Share(metrics.macro_f1).text);
    if (metrics.unknown_labels > 0) {
      section.facts.emplace_back("rows of classes that training did not see (counted as wrong)",
                                 WithThousands(metrics.unknown_labels));
    }
    section.tables.push_back(ClassTable(metrics));
  } else {
    ReportTable table{
        "targets", "", {{"target", "target"}, {"mse", "MSE"}, {"rmse", "RMSE"}, {"mae", "MAE"}, {"r2", "R²"}},
        {},        "", true};
    for (const RegressionMetrics& row : evaluation.regression) {
      table.rows.push_back({row.name, row.mse, row.rmse, row.mae, row.r2});
    }
    section.tables.push_back(std::move(table));
  }
  if (std::isfinite(evaluation.loss)) {
    section.facts.emplace_back("loss", fmt::format("{:.5g}", evaluation.loss));
  }
  return section;
}

ReportTable HistoryTable(const History& history) {
  ReportTable table{"history",
                    "",
                    {{"epoch", "epoch"},
                     {"learning_rate", "learning rate"},
                     {"train_loss", "training loss"},
                     {"train_accuracy", "training accuracy"},
                     {"validation_loss", "validation loss"},
                     {"validation_accuracy", "validation accuracy"},
                     {"samples_per_second", "samples/s"}},
                    {},
                    "",
                    true};
  const auto cell = [](double value) { return std::isfinite(value) ? ReportCell(value) : ReportCell(); };
  const auto share = [](double value) { return std::isfinite(value) ? Share(value) : ReportCell(); };
  for (const EpochRecord& record : history.epochs) {
    table.rows.push_back({Count(record.epoch), cell(record.learning_rate), cell(record.train_loss),
                          share(record.train_accuracy), cell(record.validation_loss), share(record.validation_accuracy),
                          Count(std::llround(record.samples_per_second))});
  }
  return table;
}

HtmlSection ModelSection(const Model& model) {
  HtmlSection section{"Network", {}, {}, {}, "", false};
  const Network& network = model.network;
  section.facts = {{"shape", model.ShapeText()},
                   {"parameters", WithThousands(model.parameter_count())},
                   {"type", std::string(DTypeName(network.dtype()))},
                   {"loss", model.loss.Text()}};
  section.facts.insert(section.facts.begin() + 1, {"layers", LayersText(network.layers())});
  std::vector<std::string> names = model.preprocessor.inputs().Names();
  const size_t inputs = names.size();
  names.resize(std::min(inputs, kMostInputNames));
  section.facts.emplace_back(
      "inputs", model.preprocessor.inputs().is_image()
                    ? fmt::format("images of {} × {} pixels", model.preprocessor.inputs().image_height(),
                                  model.preprocessor.inputs().image_width())
                    : fmt::format("{}: {}{}", inputs, fmt::join(names, ", "), inputs > names.size() ? ", ..." : ""));
  const Preprocessor& data = model.preprocessor;
  section.facts.emplace_back("answers",
                             fmt::format("{}{}", fmt::join(data.targets().names(), ", "),
                                         data.targets().task() == Task::kClassification
                                             ? fmt::format(" ({} classes)", data.targets().class_names().size())
                                             : ""));
  return section;
}

void Append(std::vector<Plot>& to, const std::vector<Plot>& more) { to.insert(to.end(), more.begin(), more.end()); }

std::string Headline(const Evaluation& evaluation) {
  if (evaluation.classification) {
    return fmt::format("accuracy {} of {}", Share(evaluation.classification->accuracy).text,
                       Counted(evaluation.samples, "row{s}"));
  }
  return evaluation.regression.empty()
             ? ""
             : fmt::format("R² {:.5f}, MAE {:.5g} of {}", evaluation.regression[0].r2, evaluation.regression[0].mae,
                           Counted(evaluation.samples, "row{s}"));
}

// Every setting that is not the default.
HtmlSection SettingsSection(const TrainSettings& settings) {
  HtmlSection section{"Settings", {}, {}, {}, "", true};
  const nlohmann::json values = ToJson(settings);
  const nlohmann::json defaults = ToJson(TrainSettings());
  for (const auto& [name, value] : values.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
    section.facts.emplace_back(name, (text.empty() ? "-" : text) + (value == defaults[name] ? "" : "  (given)"));
  }
  return section;
}

}  // namespace

std::vector<std::string> PlotIdsOf(size_t answers, bool is_image, bool trained) {
  std::vector<std::string> ids;
  if (trained) {
    ids = {"loss"};
    if (answers == 0) {
      ids.emplace_back("accuracy");
    }
    if (is_image) {
      ids.emplace_back("weights");
    }
  }
  if (answers == 0) {
    ids.emplace_back("confusion");
  }
  for (size_t j = 0; j < std::min(answers, kMostTargets); ++j) {
    ids.push_back("truth" + SuffixOfTarget(j));
    ids.push_back("residuals" + SuffixOfTarget(j));
  }
  return ids;
}

std::vector<Plot> HistoryPlots(const History& history, const std::string& loss, const std::string& subtitle) {
  if (history.epochs.empty()) {  // networks of folds
    return {};
  }
  LineChart chart;
  chart.id = "loss";
  chart.title = "Loss by epoch";
  chart.subtitle = subtitle;
  chart.x_label = "epoch";
  chart.y_label = loss;
  chart.series = Drawn({SeriesOf(history, "training (while weights change)", &EpochRecord::train_loss),
                        SeriesOf(history, "validation", &EpochRecord::validation_loss)});
  if (history.best_epoch > 0) {
    chart.marks.push_back({static_cast<double>(history.best_epoch), fmt::format("best epoch {}", history.best_epoch)});
  }
  std::vector<Plot> plots{PlotLines(chart)};
  chart.id = "accuracy";
  chart.title = "Accuracy by epoch";
  chart.y_label = "share of rows answered right";
  chart.series = Drawn({SeriesOf(history, "training (while weights change)", &EpochRecord::train_accuracy),
                        SeriesOf(history, "validation", &EpochRecord::validation_accuracy)});
  if (!chart.series.empty()) {
    plots.push_back(PlotLines(chart));
  }
  return plots;
}

std::vector<Plot> EvaluationPlots(const Evaluation& evaluation, const std::string& subtitle) {
  if (!evaluation.classification) {
    return RegressionPlots(evaluation, subtitle);
  }
  const ClassificationMetrics& metrics = *evaluation.classification;
  ConfusionChart chart{"confusion", "Confusion matrix", subtitle, {}, metrics.confusion};
  for (const ClassMetrics& row : metrics.classes) {
    chart.classes.push_back(row.name);
  }
  return {PlotConfusion(chart)};
}

std::vector<Plot> WeightPlots(const Model& model) {
  const Preprocessor& data = model.preprocessor;
  const ConstMatrixView weights = model.network.Weights(0);
  if (!data.inputs().is_image() || data.inputs().image_height() * data.inputs().image_width() != weights.cols) {
    return {};
  }
  const int64_t count = std::min(weights.rows, kMostTiles);
  TileChart chart{
      "weights", "Weights of the first layer", "", data.inputs().image_height(), data.inputs().image_width(), {}};
  chart.subtitle = count < weights.rows ? fmt::format("the first {} of {} neurons", count, WithThousands(weights.rows))
                                        : fmt::format("{} neurons", count);
  DispatchFloat(weights.dtype, [&]<class T>(T) {
    for (int64_t j = 0; j < count; ++j) {
      chart.tiles.emplace_back(weights.Row<T>(j), weights.Row<T>(j) + weights.cols);
    }
  });
  return {PlotTiles(chart)};
}

namespace {

HtmlSection RunSection(const TrainSession& session, const TrainResult& result) {
  const History& history = result.history;
  return {"Run",
          {{"rows", fmt::format("{} training, {} validation, {} test", WithThousands(session.rows().train),
                                WithThousands(session.validation().size()), WithThousands(session.test().size()))},
           {"epochs", fmt::format("{} ({})", history.epochs.size(),
                                  history.stop_reason == "early_stopping" ? "stopped early"
                                  : history.stop_reason == "converged"    ? "converged"
                                  : history.stop_reason == "folds"        ? "the folds' networks"
                                                                          : "all that were asked for")},
           {"best epoch", history.best_epoch > 0 ? fmt::format("{}", history.best_epoch) : "-"},
           {"training time", fmt::format("{:.3g} s", result.train_seconds)},
           {"reading and encoding", fmt::format("{:.3g} s", session.load_seconds())},
           {"hardware", QueryHardware().OneLine()},
           {"backend", session.backend().Describe()}},
          {},
          {},
          TrainCommandLine(session.settings(), session.model().training),
          false};
}

}  // namespace

RunReport ReportTraining(const TrainSession& session, const TrainResult& result) {
  const Model& model = session.model();
  const TrainSettings& settings = session.settings();
  const bool tested = result.test.has_value();
  const Dataset& looked_at = tested ? session.test() : session.validation();
  const std::string what = tested ? "test rows" : "validation rows";
  const std::string& own = tested ? settings.test : settings.validation;  // a file of theirs
  RunReport report;
  const std::string subtitle = fmt::format("{}, {}", NameOfData(settings.data), model.network.ShapeText());
  const std::vector<Plot> curves = HistoryPlots(result.history, model.loss.Text(), subtitle);
  Append(report.plots, curves);
  report.html.title = fmt::format("Training on {}", NameOfData(settings.data));
  report.html.sections.push_back(RunSection(session, result));
  report.html.sections.push_back({"Learning curves", {}, curves, {}, "", false});
  if (looked_at.size() > 0) {
    const Evaluation evaluation = tested ? *result.test : Evaluate(model, session.backend(), looked_at);
    report.html.summary = fmt::format("{}: {}", what, Headline(evaluation));
    const std::vector<Plot> plots =
        EvaluationPlots(evaluation, fmt::format("{} of {}", what, NameOfData(own.empty() ? settings.data : own)));
    Append(report.plots, plots);
    HtmlSection section = MetricsSection("Result on the " + what, evaluation);
    section.plots = plots;
    report.html.sections.push_back(std::move(section));
    if (evaluation.classification) {
      report.html.sections.push_back(
          {"Confusion matrix in numbers", {}, {}, {ConfusionTable(*evaluation.classification)}, "", true});
    }
  }
  HtmlSection network = ModelSection(model);
  network.plots = WeightPlots(model);
  Append(report.plots, network.plots);
  report.html.sections.push_back(std::move(network));
  report.html.sections.push_back({"Epochs in numbers", {}, {}, {HistoryTable(result.history)}, "", true});
  report.html.sections.push_back(SettingsSection(settings));
  return report;
}

RunReport ReportEvaluation(const EvaluationReportInput& input, const Model& model, const Backend& backend,
                           const Evaluation& evaluation) {
  RunReport report;
  report.plots =
      EvaluationPlots(evaluation, fmt::format("{} on {}", NameOfData(input.model_path), NameOfData(input.data_path)));
  report.html.title = fmt::format("{} on {}", NameOfData(input.model_path), NameOfData(input.data_path));
  report.html.summary = Headline(evaluation);
  HtmlSection section = MetricsSection("Result", evaluation);
  section.plots = report.plots;
  section.facts.emplace_back("hardware", QueryHardware().OneLine());
  section.facts.emplace_back("backend", backend.Describe());
  section.command = input.command;
  report.html.sections.push_back(std::move(section));
  if (evaluation.classification) {
    report.html.sections.push_back(
        {"Confusion matrix in numbers", {}, {}, {ConfusionTable(*evaluation.classification)}, "", true});
  }
  HtmlSection network = ModelSection(model);
  network.plots = WeightPlots(model);
  Append(report.plots, network.plots);
  report.html.sections.push_back(std::move(network));
  return report;
}

}  // namespace lamina
