// Tables and curves of a study as Markdown, CSV, JSON and gnuplot scripts; numbers keep their digits outside Markdown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lamina {

/// A number with the text that people read, or only a text (a reason, a name).
struct ReportCell {
  std::string text;
  std::optional<double> number;

  ReportCell() = default;
  ReportCell(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  ReportCell(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  /// Four significant digits for people.
  ReportCell(double value);  // NOLINT(google-explicit-constructor)
  ReportCell(double value, std::string words) : text(std::move(words)), number(value) {}
  /// All digits of a count.
  static ReportCell Whole(int64_t value) { return {static_cast<double>(value), std::to_string(value)}; }
};

struct ReportColumn {
  std::string key;    // snake_case with its unit, for CSV and JSON: "t_syn_ns"
  std::string title;  // for people
};

struct ReportTable {
  std::string id;  // "table-4": its file and its key in JSON
  std::string title;
  std::vector<ReportColumn> columns;
  std::vector<std::vector<ReportCell>> rows;  // as long as columns each
  std::string note;                           // a paragraph below, may be empty
  bool in_markdown = true;                    // false: too long to read, only a file
};

struct ReportSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool from_paper = false;  // drawn dashed, without lamina's colors
};

/// Curves over two logarithmic axes.
struct ReportFigure {
  std::string id;
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ReportSeries> series;
  bool ticks_at_points = false;  // along x; for few values that many series share
};

struct Report {
  std::string title;
  std::string hardware;  // processor, cores, instructions, memory, lamina version: on every output
  std::string introduction;
  std::vector<ReportTable> tables;
  std::vector<ReportFigure> figures;
};

/// A text within a line or a cell of a table. What Markdown would take for markup is escaped; what steers (utf8.h)
/// becomes a space, and broken UTF-8 U+FFFD.
std::string MarkdownText(std::string_view text);
/// Tables, and figures as links to ID.svg.
std::string ToMarkdown(const Report& report);
/// RFC 4180, a header of keys; every row ends with the hardware.
std::string ToCsv(const ReportTable& table, const std::string& hardware);
/// The same layout for a figure: series, x, y.
std::string ToCsv(const ReportFigure& figure, const std::string& hardware);
/// {title, hardware, tables: {id: {title, note, rows: [{key: value}]}}, figures: {id: {...}}}; empty cells are null.
nlohmann::json ToJson(const Report& report);
/// Draws ID.svg and ID.png in gnuplot's working folder; the data is inside.
std::string GnuplotScript(const ReportFigure& figure, const std::string& hardware);

/// Before the work. Throws Error(kIo) where `folder` cannot hold a report, or holds files that are not lamina's under
/// names such as a report's.
void RequireReportFolder(const std::string& folder);

/// Writes report.md, report.json, ID.csv and ID.gp into `folder`, which is made where it is missing. Throws Error(kIo),
/// also as ClaimNames().
void WriteReport(const Report& report, const std::string& folder);

}  // namespace lamina
