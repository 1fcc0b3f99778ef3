// The parts of a page, put together.
#include "lamina/model/html_page/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/base64.h"
#include "lamina/base/error.h"
#include "lamina/base/version.h"
#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_rows.h"
#include "lamina/model/html_page/page_columns.h"
#include "lamina/model/html_page/page_files.h"
#include "lamina/model/html_page/page_networks.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr int64_t kCheckedRows = 12;
constexpr int64_t kCheckedCells = 2400;  // of wide models fewer rows

json CellsOf(const CColumns& columns, const CRow& row) {
  json cells = json::array();
  for (const CColumn& column : columns.columns) {
    const auto place = static_cast<size_t>(column.place);
    if (column.is_text) {
      cells.push_back(row.texts[place] ? json(*row.texts[place]) : json(nullptr));
    } else {
      cells.push_back(row.numbers[place]);  // NaN becomes null
    }
  }
  return cells;
}

// Rows and what the program answers to them.
void AddCheck(const Model& model, const CColumns& columns, const Table* table, json& page) {
  const auto width = std::max<int64_t>(1, std::ssize(columns.columns));
  const int64_t count = std::clamp<int64_t>(kCheckedCells / width, 2, kCheckedRows);
  std::vector<CRow> rows = table == nullptr ? TypicalRows(model, columns, count) : RowsOfTable(columns, *table, count);
  const Matrix outputs = OutputsOfRows(model, EncodedRows(model, columns, rows));
  json& check = page["check"];
  check = {{"rows", json::array()}, {"outputs", json::array()}};
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    if (std::all_of(row, row + outputs.cols(), [](double y) { return std::isfinite(y); })) {
      check["rows"].push_back(CellsOf(columns, rows[static_cast<size_t>(i)]));
      check["outputs"].push_back(std::vector<double>(row, row + outputs.cols()));
    }
  }
}

std::string TitleOf(const Model& model, const PageOptions& options) {
  if (!options.title.empty() || model.preprocessor.inputs().count() == 0) {
    return options.title.empty() ? "lamina" : options.title;
  }
  return fmt::format("{}", fmt::join(model.preprocessor.targets().names(), ", "));
}

// JSON that ends no script, whatever the names in it are; broken UTF-8 is replaced.
std::string ScriptText(const json& value) {
  const std::string dumped = value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string text;
  text.reserve(dumped.size());
  for (const char c : dumped) {
    text += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  }
  return text;
}

std::string Joined(std::span<const std::string_view> parts) { return fmt::format("{}", fmt::join(parts, "\n")); }

}  // namespace

json PageModelOf(const Model& model, const PageOptions& options, PageBlob& blob) {
  const CColumns columns = CColumnsOf(model, "m");
  json page = {{"lamina", Version()},
               {"title", TitleOf(model, options)},
               {"shape", model.ShapeText()},
               {"parameters", model.parameter_count()},
               {"weights", model.int8 ? "int8" : WeightStorageName(model.weights)},
               {"trainedRows", model.profile.rows}};
  AddPageColumns(model, columns, page);
  AddPageNetworks(model, blob, page);
  AddPageTargets(model, page);
  AddCheck(model, columns, options.rows, page);
  return page;
}

std::string ToHtml(const Model& model, const PageOptions& options) {
  PageBlob blob;
  const std::string description = ScriptText(PageModelOf(model, options, blob));
  const std::string numbers = ToBase64(blob.bytes());
  const std::string engine = Joined(PageEngine());
  const std::string script = Joined(PageScript());
  const std::pair<std::string_view, std::string_view> parts[] = {{"{{style}}", PageStyle()},
                                                                 {"{{model}}", description},
                                                                 {"{{numbers}}", numbers},
                                                                 {"{{engine}}", engine},
                                                                 {"{{script}}", script}};
  std::string html;
  std::string_view rest = PageTemplate();
  for (const auto& [name, text] : parts) {  // in the order of the template
    const size_t mark = rest.find(name);
    html.append(rest.substr(0, mark)).append(text);
    rest.remove_prefix(mark + name.size());
  }
  return html.append(rest);
}

}  // namespace lamina
