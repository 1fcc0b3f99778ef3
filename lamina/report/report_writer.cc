// Writes reports.
#include "lamina/report/report_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/file_set.h"
#include "lamina/base/output_folder.h"
#include "lamina/base/text.h"
#include "lamina/base/utf8.h"
#include "lamina/base/version.h"
#include "lamina/report/plots.h"

namespace lamina {
namespace {

constexpr const char* kMarkdown = "report.md";
constexpr const char* kJson = "report.json";

using nlohmann::json;

std::string CellField(const ReportCell& cell) {
  return cell.number && std::isfinite(*cell.number) ? fmt::format("{}", *cell.number) : CsvField(cell.text);
}

// Long reasons would make a column wide: they stand below the table, each once.
class Footnotes {
 public:
  std::string Short(const ReportCell& cell) {
    constexpr size_t kLongest = 24;
    if (cell.number || cell.text.size() <= kLongest) {
      return cell.text;
    }
    const auto found = std::find(texts_.begin(), texts_.end(), cell.text);
    const auto index = found - texts_.begin();
    if (found == texts_.end()) {
      texts_.push_back(cell.text);
    }
    return fmt::format("({})", index + 1);
  }
  std::string Text() const {
    std::string text;
    for (size_t i = 0; i < texts_.size(); ++i) {
      text += fmt::format("{}({}) {}", i == 0 ? "" : "; ", i + 1, MarkdownText(texts_[i]));
    }
    return text;
  }

 private:
  std::vector<std::string> texts_;
};

bool IsNumeric(const ReportTable& table, size_t column) {
  return !table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return row[column].number || row[column].text.empty();
  });
}

std::string MarkdownTable(const ReportTable& table) {
  std::string text = fmt::format("## {}\n\n", MarkdownText(table.title));
  std::string rule;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    text += fmt::format("| {} ", MarkdownText(table.columns[j].title));
    rule += IsNumeric(table, j) ? "| ---: " : "| --- ";
  }
  text += "|\n" + rule + "|\n";
  Footnotes footnotes;
  for (const auto& row : table.rows) {
    for (size_t j = 0; j < row.size(); ++j) {  // the first column names the row
      text += fmt::format("| {} ", MarkdownText(j == 0 ? row[j].text : footnotes.Short(row[j])));
    }
    text += "|\n";
  }
  for (const std::string& below : {footnotes.Text(), table.note}) {
    text += below.empty() ? "" : "\n" + below + "\n";
  }
  return text + "\n";
}

json ToJson(const ReportCell& cell) {
  if (cell.number) {
    return std::isfinite(*cell.number) ? json(*cell.number) : json(nullptr);
  }
  return cell.text.empty() ? json(nullptr) : json(cell.text);
}

}  // namespace

ReportCell::ReportCell(double value) : text(fmt::format("{:.4g}", value)), number(value) {}

std::string MarkdownText(std::string_view text) {
  constexpr std::string_view kMarks = "\\`*[<&|$~";
  const auto is_in_word = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || (text[at] & 0x80) != 0);
  };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    const char32_t code = length == 0 ? 0xFFFD : Utf8Code(text, i, length);
    const bool around_a_word = text[i] == '_' && !(is_in_word(i - 1) && is_in_word(i + 1));
    if (length == 0) {
      result += "\xef\xbf\xbd";
    } else if (Steers(code)) {
      result += ' ';
    } else {
      result += length == 1 && (around_a_word || kMarks.find(text[i]) != std::string_view::npos) ? "\\" : "";
      result += text.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  return result;
}

std::string ToMarkdown(const Report& report) {
  std::string text = fmt::format("# {}\n\n{}\n\n{}\n\n", MarkdownText(report.title), MarkdownText(report.hardware),
                                 report.introduction);
  for (const ReportTable& table : report.tables) {
    text += table.in_markdown ? MarkdownTable(table) : "";
  }
  for (const ReportFigure& figure : report.figures) {
    text += fmt::format("## {0}\n\n![{0}]({1}.svg)\n\n", MarkdownText(figure.title), figure.id);
  }
  text.pop_back();
  return text;
}

std::string ToCsv(const ReportTable& table, const std::string& hardware) {
  std::string text;
  for (const ReportColumn& column : table.columns) {
    text += CsvField(column.key) + ",";
  }
  text += "hardware\n";
  for (const auto& row : table.rows) {
    for (const ReportCell& cell : row) {
      text += CellField(cell) + ",";
    }
    text += CsvField(hardware) + "\n";
  }
  return text;
}

std::string ToCsv(const ReportFigure& figure, const std::string& hardware) {
  ReportTable table;
  table.columns = {{"series", ""}, {"x", ""}, {"y", ""}};
  for (const ReportSeries& series : figure.series) {
    for (const auto& [x, y] : series.points) {
      table.rows.push_back({series.name, x, y});
    }
  }
  return ToCsv(table, hardware);
}

json ToJson(const Report& report) {
  json node = {{"title", report.title},       {"hardware", report.hardware},
               {"lamina_version", Version()}, {"introduction", report.introduction},
               {"tables", json::object()},    {"figures", json::object()}};
  for (const ReportTable& table : report.tables) {
    json rows = json::array();
    for (const auto& row : table.rows) {
      json entry = json::object();
      for (size_t j = 0; j < row.size(); ++j) {
        entry[table.columns[j].key] = ToJson(row[j]);
      }
      rows.push_back(std::move(entry));
    }
    node["tables"][table.id] = {{"title", table.title}, {"note", table.note}, {"rows", std::move(rows)}};
  }
  for (const ReportFigure& figure : report.figures) {
    json series = json::array();
    for (const ReportSeries& curve : figure.series) {
      series.push_back({{"name", curve.name}, {"from_paper", curve.from_paper}, {"points", curve.points}});
    }
    node["figures"][figure.id] = {{"title", figure.title},
                                  {"x_label", figure.x_label},
                                  {"y_label", figure.y_label},
                                  {"series", std::move(series)}};
  }
  return node;
}

std::string GnuplotScript(const ReportFigure& figure, const std::string& hardware) {
  LineChart chart;
  chart.id = figure.id;
  chart.title = figure.title;
  chart.subtitle = hardware;
  chart.x_label = figure.x_label + " (logarithmic)";
  chart.y_label = figure.y_label + " (logarithmic)";
  chart.log_x = chart.log_y = true;
  chart.ticks_at_points = figure.ticks_at_points;
  for (const ReportSeries& series : figure.series) {
    chart.series.push_back({series.name, series.points, series.from_paper});
  }
  return PlotLines(chart).script;
}

void RequireReportFolder(const std::string& folder) {
  std::vector<std::string> names{kMarkdown, kJson};
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
    const std::vector<std::string> files = FilesOfPlot(entry.path().stem().string());
    const std::string name = entry.path().filename().string();
    if (std::find(files.begin(), files.end(), name) != files.end()) {
      names.push_back(name);
    }
  }
  RequireOutputFolder(folder, names);
}

void WriteReport(const Report& report, const std::string& folder) {
  std::vector<std::string> names{kMarkdown, kJson};
  for (const ReportTable& table : report.tables) {
    names.push_back(table.id + ".csv");
  }
  for (const ReportFigure& figure : report.figures) {
    const std::vector<std::string> files = FilesOfPlot(figure.id);
    names.insert(names.end(), files.begin(), files.end());
  }
  FileSet files;
  ClaimNames(folder, names, files);
  const auto write = [&](const std::string& name, const std::string& content) {
    files.Add((std::filesystem::path(folder) / name).string(), content);
  };
  for (const ReportTable& table : report.tables) {
    write(table.id + ".csv", ToCsv(table, report.hardware));
  }
  for (const ReportFigure& figure : report.figures) {
    write(figure.id + ".csv", ToCsv(figure, report.hardware));
    write(figure.id + ".gp", GnuplotScript(figure, report.hardware));
  }
  write(kJson, ToJson(report).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  write(kMarkdown, ToMarkdown(report));
  files.Commit();
}

}  // namespace lamina
