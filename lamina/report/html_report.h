// One HTML file that needs nothing else: facts, tables and pictures of a run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/report/plots.h"
#include "lamina/report/report_writer.h"

namespace lamina {

struct HtmlSection {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name, value
  std::vector<Plot> plots;                                 // inline SVG
  std::vector<ReportTable> tables;
  std::string command;  // to copy; may be empty
  bool folded = false;  // opened by a click: long tables
};

struct HtmlReport {
  std::string title;
  std::string summary;  // one line below the title
  std::vector<HtmlSection> sections;
};

/// The whole file. Where gnuplot cannot draw, a sentence stands in the place of the pictures.
std::string ToHtml(const HtmlReport& report);

/// Text between tags or inside double quotes: markup becomes entities, what steers (utf8.h) spaces, broken UTF-8
/// U+FFFD.
std::string HtmlText(std::string_view text);

}  // namespace lamina
