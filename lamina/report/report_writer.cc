// Writes reports.
#include "lamina/report/report_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/version.h"
#include "lamina/report/gnuplot.h"

namespace lamina {
namespace {

using nlohmann::json;

std::string Replaced(std::string_view text, char what, std::string_view with) {
  std::string result;
  for (const char c : text) {
    if (c == what) {
      result += with;
    } else {
      result += c;
    }
  }
  return result;
}

std::string CsvField(std::string_view text) {
  return text.find_first_of(",\"\n") == std::string_view::npos ? std::string(text)
                                                               : '"' + Replaced(text, '"', "\"\"") + '"';
}

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
      text += fmt::format("{}({}) {}", i == 0 ? "" : "; ", i + 1, texts_[i]);
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
  std::string text = fmt::format("## {}\n\n", table.title);
  std::string rule;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    text += fmt::format("| {} ", Replaced(table.columns[j].title, '|', "\\|"));
    rule += IsNumeric(table, j) ? "| ---: " : "| --- ";
  }
  text += "|\n" + rule + "|\n";
  Footnotes footnotes;
  for (const auto& row : table.rows) {
    for (size_t j = 0; j < row.size(); ++j) {  // the first column names the row
      text += fmt::format("| {} ", Replaced(j == 0 ? row[j].text : footnotes.Short(row[j]), '|', "\\|"));
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

// Inside gnuplot's double quotes; a real line break becomes its escape.
std::string Quoted(std::string_view text) {
  return '"' + Replaced(Replaced(Replaced(text, '\\', "\\\\"), '"', "\\\""), '\n', "\\n") + '"';
}

}  // namespace

ReportCell::ReportCell(double value) : text(fmt::format("{:.4g}", value)), number(value) {}

std::string ToMarkdown(const Report& report) {
  std::string text = fmt::format("# {}\n\n{}\n\n{}\n\n", report.title, report.hardware, report.introduction);
  for (const ReportTable& table : report.tables) {
    text += table.in_markdown ? MarkdownTable(table) : "";
  }
  for (const ReportFigure& figure : report.figures) {
    text += fmt::format("## {}\n\n![{}]({}.svg)\n\n", figure.title, figure.title, figure.id);
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
  std::string script = fmt::format("# Draws {0}.svg and {0}.png: gnuplot {0}.gp\n", figure.id);
  for (size_t i = 0; i < figure.series.size(); ++i) {
    script += fmt::format("$series{} << EOD\n", i);
    for (const auto& [x, y] : figure.series[i].points) {
      script += fmt::format("{} {}\n", x, y);
    }
    script += "EOD\n";
  }
  script += fmt::format(
      "set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n"
      "set logscale xy\nset xrange [0.8:*]\nset format y \"%g\"\nset grid xtics ytics linetype 1 linecolor rgb "
      "\"#d8d8d8\"\n"
      "set rmargin 5\nset key outside below noenhanced maxrows 3 width 1\n",
      Quoted(figure.title + "\n" + hardware), Quoted(figure.x_label + " (logarithmic)"),
      Quoted(figure.y_label + " (logarithmic)"));
  std::string plot;
  int colour = 0;
  for (size_t i = 0; i < figure.series.size(); ++i) {
    const ReportSeries& series = figure.series[i];
    if (!series.points.empty()) {
      const std::string style = series.from_paper ? fmt::format("linecolor rgb \"#606060\" dashtype {} pointtype {}",
                                                                2 + i % 3, 4 + 2 * (i % 3))
                                                  : fmt::format("linetype {} dashtype 1 pointtype 7", ++colour);
      plot += fmt::format("{}$series{} using 1:2 with linespoints {} linewidth 2 pointsize 0.7 title {}",
                          plot.empty() ? "plot " : ", \\\n  ", i, style, Quoted(series.name));
    }
  }
  if (plot.empty()) {
    return script + "# nothing was measured\n";
  }
  return script +
         fmt::format(
             "set terminal svg size 1000,640 font \"sans,14\" background \"white\"\nset output \"{0}.svg\"\n{1}\n"
             "set terminal pngcairo size 1000,640 font \"sans,11\"\nset output \"{0}.png\"\nreplot\n",
             figure.id, plot);
}

void WriteReport(const Report& report, const std::string& folder) {
  MakeFolder(folder);
  const auto write = [&](const std::string& name, const std::string& content) {
    WriteFileAtomically((std::filesystem::path(folder) / name).string(), content);
  };
  for (const ReportTable& table : report.tables) {
    write(table.id + ".csv", ToCsv(table, report.hardware));
  }
  for (const ReportFigure& figure : report.figures) {
    write(figure.id + ".csv", ToCsv(figure, report.hardware));
    write(figure.id + ".gp", GnuplotScript(figure, report.hardware));
  }
  write("report.json", ToJson(report).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  write("report.md", ToMarkdown(report));
}

}  // namespace lamina
