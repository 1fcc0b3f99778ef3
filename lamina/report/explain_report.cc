// Bars and curves of explanations.
#include "lamina/report/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr size_t kShownOutputs = 7;  // curves of one picture

constexpr const char* kImportance = "importance";

std::string IdOfDependence(size_t index) { return fmt::format("dependence-{}", index + 1); }
std::string IdOfRow(size_t index) { return fmt::format("row-{}", index + 1); }

std::string BaseName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Plot ImportancePlot(const ExplainReportInput& input, const std::string& subtitle) {
  BarChart chart{.id = kImportance,
                 .title = "Importance of columns",
                 .subtitle = subtitle,
                 .x_label = fmt::format("{} lost where the column is shuffled", input.importance.metric.Title()),
                 .names = {},
                 .values = {},
                 .deviations = {}};
  for (const ColumnImportance& column : input.importance.columns) {
    if (chart.names.size() < kShownColumns) {
      chart.names.push_back(column.column);
      chart.values.push_back(column.mean);
      chart.deviations.push_back(column.deviation);
    }
  }
  return PlotBars(chart);
}

// Numbers as curves; of categories a bar each, of the last output where there are several.
Plot DependencePlot(const ExplainReportInput& input, size_t index, const std::string& subtitle) {
  const Dependence& dependence = input.dependences[index];
  const std::string id = IdOfDependence(index);
  const std::string title = "Mean answer by " + dependence.column;
  if (!dependence.is_number) {
    BarChart chart{id, title, subtitle, "mean answer: " + input.outputs.back(), {}, {}, {}};
    for (const Dependence::Point& point : dependence.points) {
      chart.names.push_back(point.text);
      chart.values.push_back(point.outputs.back());
    }
    return PlotBars(chart);
  }
  LineChart chart;
  chart.id = id;
  chart.title = title;
  chart.subtitle = subtitle;
  chart.x_label = dependence.column;
  chart.y_label = "mean answer";
  const size_t first = input.outputs.size() == 2 ? 1 : 0;  // two classes mirror each other
  for (size_t k = first; k < input.outputs.size() && k < first + kShownOutputs; ++k) {
    PlotSeries series{input.outputs[k], {}, false};
    for (const Dependence::Point& point : dependence.points) {
      series.points.emplace_back(point.number, point.outputs[k]);
    }
    chart.series.push_back(std::move(series));
  }
  return PlotLines(chart);
}

Plot RowPlot(const Explanation& row, size_t index, const std::string& subtitle) {
  BarChart chart{
      IdOfRow(index),
      fmt::format("Row {}: {} {}, on average {}", row.row, row.output, FigureText(row.answer), FigureText(row.base)),
      subtitle,
      "share of the difference",
      {},
      {},
      {}};
  for (const Explanation::Share& share : row.shares) {
    if (chart.names.size() < kShownColumns) {
      chart.names.push_back(fmt::format("{} = {}", share.column, share.value));
      chart.values.push_back(share.share);
      chart.deviations.push_back(share.error);
    }
  }
  return PlotBars(chart);
}

}  // namespace

std::string ImportanceCsv(const Importance& importance) {
  const bool learned = HasLearnedWeights(importance);
  std::string text = fmt::format("column,importance,deviation{}\n", learned ? ",learned_weight" : "");
  for (const ColumnImportance& column : importance.columns) {
    text += fmt::format("{},{:.9g},{}{}\n", CsvField(column.column), column.mean,
                        std::isnan(column.deviation) ? "" : fmt::format("{:.9g}", column.deviation),
                        learned ? fmt::format(",{:.9g}", column.weight) : "");
  }
  return text;
}

std::vector<std::string> ExplainPlotIds(size_t dependences, size_t rows) {
  std::vector<std::string> ids{kImportance};
  for (size_t i = 0; i < dependences; ++i) {
    ids.push_back(IdOfDependence(i));
  }
  for (size_t i = 0; i < rows; ++i) {
    ids.push_back(IdOfRow(i));
  }
  return ids;
}

RunReport ReportExplanation(const ExplainReportInput& input) {
  RunReport report;
  const std::string on = fmt::format("{} on {}", BaseName(input.model_path), BaseName(input.data_path));
  report.html.title = "What answers depend on: " + on;
  report.html.summary =
      fmt::format("{} {}", input.importance.metric.Title(), input.importance.metric.ValueText(input.importance.value));
  HtmlSection importance;
  importance.title = "Importance";
  importance.command = input.command;
  importance.plots.push_back(ImportancePlot(input, on));
  ReportTable table{
      "importance", "All columns", {{"column", "column"}, {"importance", "importance"}, {"deviation", "deviation"}}, {},
      "",           true};
  const bool learned = HasLearnedWeights(input.importance);
  if (learned) {
    table.columns.push_back({"learned_weight", "learned weight in distances"});
  }
  for (const ColumnImportance& column : input.importance.columns) {
    table.rows.push_back({ReportCell(column.column), ReportCell(column.mean), ReportCell(column.deviation)});
    if (learned) {
      table.rows.back().push_back(ReportCell(column.weight));
    }
  }
  importance.tables.push_back(std::move(table));
  report.html.sections.push_back(std::move(importance));
  HtmlSection curves;
  curves.title = "Partial dependence";
  for (size_t i = 0; i < input.dependences.size(); ++i) {
    curves.plots.push_back(DependencePlot(input, i, on));
  }
  HtmlSection rows;
  rows.title = "Single rows";
  for (size_t i = 0; i < input.explanations.size(); ++i) {
    rows.plots.push_back(RowPlot(input.explanations[i], i, on));
  }
  for (HtmlSection* section : {&curves, &rows}) {
    if (!section->plots.empty()) {
      report.html.sections.push_back(std::move(*section));
    }
  }
  for (const HtmlSection& section : report.html.sections) {
    report.plots.insert(report.plots.end(), section.plots.begin(), section.plots.end());
  }
  return report;
}

}  // namespace lamina
