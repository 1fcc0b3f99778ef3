// HTML of one file.
#include "lamina/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lamina/base/utf8.h"
#include "lamina/base/version.h"
#include "lamina/report/draw_plots.h"
#include "lamina/report/gnuplot.h"

namespace lamina {
namespace {

// Readable on a screen and on paper; no fonts, scripts or pictures from elsewhere.
constexpr const char* kStyle = R"(
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1000px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.7em; margin-bottom: 0.1em; overflow-wrap: anywhere; }
h2 { font-size: 1.2em; margin: 1.8em 0 0.5em; border-bottom: 2px solid #0072b2; padding-bottom: 0.2em; }
h3 { font-size: 1em; margin: 1em 0 0.3em; }
p.summary { color: #444; margin-top: 0; }
table { border-collapse: collapse; margin: 0.5em 0; font-size: 0.93em; }
th, td { padding: 0.22em 0.8em 0.22em 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }
th { font-weight: 600; border-bottom: 1px solid #888; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
table.facts th { border-bottom: 1px solid #ddd; font-weight: 400; color: #555; white-space: nowrap; }
div.scroll { overflow-x: auto; }
svg { max-width: 100%; height: auto; display: block; margin: 0.5em 0; }
pre { background: #f4f4f4; padding: 0.8em; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; font-size: 1.1em; font-weight: 600; margin-top: 1.5em; }
footer { margin-top: 3em; color: #666; font-size: 0.85em; }
@media print { body { margin: 0; max-width: none; } svg, table { break-inside: avoid; } }
)";

std::string Replaced(std::string text, std::string_view what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// `edit` of every tag, and the text between them, which holds names of columns, as it is.
std::string WithTags(std::string_view markup, const std::function<std::string(std::string)>& edit) {
  std::string result;
  while (!markup.empty()) {
    const size_t open = std::min(markup.find('<'), markup.size());
    const size_t close = std::min(markup.find('>', open), markup.size());
    result += markup.substr(0, open);
    result += edit(std::string(markup.substr(open, close - open)));
    markup.remove_prefix(close);
    if (!markup.empty()) {
      result += '>';
      markup.remove_prefix(1);
    }
  }
  return result;
}

// The <svg> element alone, its names made unique within the page and a name for readers that speak.
std::string InlineSvg(const Plot& plot, std::string svg) {
  svg = WithTags(std::string_view(svg).substr(std::min(svg.find("<svg"), svg.size())), [&](std::string tag) {
    for (const char* before : {"id='", "xlink:href='#", "url(#", "id=\"", "xlink:href=\"#"}) {
      tag = Replaced(std::move(tag), before, before + plot.id + "-");
    }
    return tag;
  });
  const size_t title = svg.find("<title>");
  const size_t end = svg.find("</title>");
  if (title != std::string::npos && end != std::string::npos) {
    svg.replace(title, end - title, "<title>" + HtmlText(plot.title));
  }
  return svg.replace(0, 4, fmt::format("<svg role=\"img\" aria-label=\"{}\"", HtmlText(plot.title)));
}

std::string Pictures(const std::vector<Plot>& plots) {
  std::string html;
  for (const Plot& plot : plots) {
    const std::optional<std::string> svg = SvgOf(plot);
    if (!svg) {
      return html +
             fmt::format("<p>Pictures are missing: gnuplot was not there to draw them ({}).</p>\n", InstallGnuplot());
    }
    html += "<figure style=\"margin:0\">" + InlineSvg(plot, *svg) + "</figure>\n";
  }
  return html;
}

std::string Facts(const HtmlSection& section) {
  std::string html = section.facts.empty() ? "" : "<table class=\"facts\">\n";
  for (const auto& [name, value] : section.facts) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", HtmlText(name), HtmlText(value));
  }
  return html + (section.facts.empty() ? "" : "</table>\n");
}

std::string TableHtml(const ReportTable& table) {
  const auto tag = [&](const char* element, size_t column, const std::string& text) {
    const bool number = !table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return row[column].number || row[column].text.empty();
    });
    return fmt::format("<{0}{1}>{2}</{0}>", element, number ? " class=\"number\"" : "", HtmlText(text));
  };
  std::string html = table.title.empty() ? "" : fmt::format("<h3>{}</h3>\n", HtmlText(table.title));
  html += "<div class=\"scroll\"><table>\n<tr>";
  for (size_t j = 0; j < table.columns.size(); ++j) {
    html += tag("th", j, table.columns[j].title);
  }
  html += "</tr>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (size_t j = 0; j < row.size(); ++j) {
      html += tag("td", j, row[j].text);
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n" + (table.note.empty() ? "" : fmt::format("<p>{}</p>\n", HtmlText(table.note)));
}

std::string Section(const HtmlSection& section) {
  const std::string title = HtmlText(section.title);
  std::string html = section.folded ? fmt::format("<details><summary>{}</summary>\n", title)
                                    : fmt::format("<section>\n<h2>{}</h2>\n", title);
  html += Facts(section) + Pictures(section.plots);
  for (const ReportTable& table : section.tables) {
    html += TableHtml(table);
  }
  if (!section.command.empty()) {
    html += fmt::format("<pre>{}</pre>\n", HtmlText(section.command));
  }
  return html + (section.folded ? "</details>\n" : "</section>\n");
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    const char32_t code = length == 0 ? 0xFFFD : Utf8Code(text, i, length);
    switch (code) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      case 0xFFFD: result += "\xef\xbf\xbd"; break;
      default: result += Steers(code) ? " " : text.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  return result;
}

std::string ToHtml(const HtmlReport& report) {
  const std::string title = HtmlText(report.title);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p class=\"summary\">{2}</p>\n",
      title, kStyle, HtmlText(report.summary));
  for (const HtmlSection& section : report.sections) {
    html += Section(section);
  }
  return html + fmt::format("<footer>lamina {}</footer>\n</body>\n</html>\n", HtmlText(Version()));
}

}  // namespace lamina
