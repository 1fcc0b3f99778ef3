// One pass over content.xml: styles come first, which say what sheets are hidden; cells say what they hold themselves.
#include "lamina/data/files/ods.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/number_formats.h"
#include "lamina/data/files/xml_reader.h"

namespace lamina {
namespace {

constexpr std::string_view kOffice = "urn:oasis:names:tc:opendocument:xmlns:office:1.0";
constexpr std::string_view kTable = "urn:oasis:names:tc:opendocument:xmlns:table:1.0";
constexpr std::string_view kText = "urn:oasis:names:tc:opendocument:xmlns:text:1.0";
constexpr std::string_view kStyle = "urn:oasis:names:tc:opendocument:xmlns:style:1.0";
constexpr std::string_view kErrorType = "error";

bool Is(XmlName name, std::string_view space, std::string_view local) {
  return name.local == local && name.space == space;
}

// "25:30:00" of "PT25H30M00S"; "" for what is no duration.
std::string TimeOf(std::string_view duration) {
  const bool negative = duration.starts_with('-');
  duration.remove_prefix(negative ? 1 : 0);
  if (!duration.starts_with('P')) {
    return "";
  }
  duration.remove_prefix(1);
  double seconds = 0;
  bool in_day = false;
  while (!duration.empty()) {
    if (!in_day && duration.starts_with('T')) {
      in_day = true;
      duration.remove_prefix(1);
      continue;
    }
    double number = 0;
    const char* end = duration.data() + duration.size();
    const auto read = fast_float::from_chars(duration.data(), end, number);
    if (read.ec != std::errc() || read.ptr == end) {
      return "";
    }
    const char unit = *read.ptr;
    const double factor = unit == 'D' && !in_day  ? 86'400
                          : unit == 'H' && in_day ? 3600
                          : unit == 'M' && in_day ? 60
                          : unit == 'S' && in_day ? 1
                                                  : 0;
    if (factor == 0) {
      return "";
    }
    seconds += factor * number;
    duration.remove_prefix(static_cast<size_t>(read.ptr - duration.data()) + 1);
  }
  constexpr double kMost_seconds = 1e12;
  return std::abs(seconds) < kMost_seconds ? HoursText(std::llround((negative ? -1000 : 1000) * seconds)) : "";
}

class ContentHandler : public XmlHandler {
 public:
  ContentHandler(const SheetQuery& query, SheetCells& cells, const std::string& source)
      : query_(query), cells_(cells), source_(source) {}

  void Start(const XmlElement& element) override {
    ++depth_;
    const XmlName name = element.name;
    if (Is(name, kTable, "table")) {
      StartTable(element);
    } else if (table_depth_ == 0) {
      StartStyle(element);
    } else if (!in_chosen_) {
      return;
    } else if (cell_depth_ > 0) {
      if (name.space == kText) {
        StartText(element);
      }
    } else if (Is(name, kTable, "table-row")) {
      rows_ = CountOf(element.Get("number-rows-repeated", kTable));
      column_ = 0;
      row_begun_ = false;
    } else if (Is(name, kTable, "table-cell") || Is(name, kTable, "covered-table-cell")) {
      StartCell(element);
    }
  }

  void End(XmlName name) override {
    if (depth_ == table_depth_) {
      table_depth_ = 0;
      in_chosen_ = false;
    } else if (depth_ == cell_depth_) {
      AddCell();
      cell_depth_ = 0;
    } else if (depth_ == paragraph_depth_) {
      paragraph_depth_ = 0;
    } else if (in_chosen_ && cell_depth_ == 0 && Is(name, kTable, "table-row")) {
      EndRow();
    }
    --depth_;
  }

  void Text(std::string_view text) override {
    if (paragraph_depth_ > 0 && cell_depth_ > 0) {
      text_ += text;
    }
  }

  std::vector<SheetName> sheets;
  std::optional<size_t> chosen;

 private:
  void StartTable(const XmlElement& element) {
    if (table_depth_ > 0) {
      return;  // a table within a cell
    }
    table_depth_ = depth_;
    sheets.push_back({std::string(element.Get("name", kTable)),
                      hidden_styles_.contains(std::string(element.Get("style-name", kTable)))});
    const SheetName& sheet = sheets.back();
    if (!chosen && (query_.name.empty() ? !sheet.hidden : sheet.name == query_.name)) {
      chosen = sheets.size() - 1;
      in_chosen_ = true;
    }
  }

  void StartStyle(const XmlElement& element) {
    if (Is(element.name, kStyle, "style")) {
      style_ = element.Get("name", kStyle);
    } else if (Is(element.name, kStyle, "table-properties") && element.Get("display", kTable) == "false") {
      hidden_styles_.insert(style_);
    }
  }

  void StartCell(const XmlElement& element) {
    cell_depth_ = depth_;
    covered_ = element.name.local == "covered-table-cell";
    columns_ = CountOf(element.Get("number-columns-repeated", kTable));
    const auto error =
        element.Find("value-type", "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0");
    type_ = error == kErrorType ? kErrorType : element.Get("value-type", kOffice);
    value_ = element.Get(type_ == "date"      ? "date-value"
                         : type_ == "time"    ? "time-value"
                         : type_ == "boolean" ? "boolean-value"
                         : type_ == "string"  ? "string-value"
                                              : "value",
                         kOffice);
    text_.clear();
  }

  // Text is that of paragraphs right in the cell, not of its comments and pictures.
  void StartText(const XmlElement& element) {
    const std::string_view local = element.name.local;
    if (local == "p" && depth_ == cell_depth_ + 1) {
      text_ += text_.empty() ? "" : "\n";
      paragraph_depth_ = depth_;
    } else if (paragraph_depth_ > 0 && (local == "s" || local == "tab" || local == "line-break")) {
      constexpr int64_t kMostBlanks = 1000;
      const int64_t blanks = local == "s" ? std::min(CountOf(element.Get("c", kText)), kMostBlanks) : 1;
      text_.append(static_cast<size_t>(blanks), local == "line-break" ? '\n' : ' ');
    }
  }

  int64_t CountOf(std::string_view text) const {
    const std::optional<int64_t> count = text.empty() ? 1 : ParseInteger(text);
    if (!count || *count < 1) {
      throw Error(ErrorCode::kBadData, "cells or rows of the sheet are repeated so often",
                  {.file = source_,
                   .line = cells_.row() + 1,
                   .value = std::string(text),
                   .remedy = "Save the file again by a spreadsheet program."});
    }
    return std::min(*count, kMostSheetRows + 1);  // which no sheet has
  }

  void AddCell() {
    if (!covered_ && IsFilled()) {
      for (int64_t i = 0; i < columns_; ++i) {
        AddValue(column_ + i);
      }
    }
    column_ += columns_;
  }

  bool IsFilled() const { return !value_.empty() || !text_.empty(); }

  void AddValue(int64_t column) {
    if (!row_begun_) {
      cells_.BeginRow(cells_.row() + 1);
      row_begun_ = true;
    }
    if (value_.empty() || type_ == kErrorType || (type_ == "string" && !text_.empty())) {
      cells_.AddText(column, text_);
    } else if (type_ == "float" || type_ == "currency") {
      cells_.AddNumber(column, value_);
    } else if (type_ == "percentage") {
      double value = 0;
      const char* end = value_.data() + value_.size();
      const auto read = fast_float::from_chars(value_.data(), end, value);
      const bool is_number = read.ec == std::errc() && read.ptr == end;
      cells_.AddNumber(column, is_number ? PercentCellText(value) : value_, is_number ? "%" : "");
    } else if (type_ == "boolean") {
      cells_.AddText(column, value_ == "true" ? "TRUE" : "FALSE");
    } else if (type_ == "time") {
      const std::string time = TimeOf(value_);
      cells_.AddText(column, time.empty() ? text_ : time);
    } else {  // date, string
      cells_.AddText(column, value_);
    }
  }

  void EndRow() {
    if (row_begun_) {
      cells_.RepeatRow(rows_ - 1);
    } else {
      cells_.SkipRows(rows_);
    }
  }

  const SheetQuery& query_;
  SheetCells& cells_;
  std::string source_;
  std::set<std::string> hidden_styles_;
  std::string style_;
  std::string type_;
  std::string value_;
  std::string text_;
  int64_t depth_ = 0;
  int64_t table_depth_ = 0;      // of the sheet under way; 0: none
  int64_t cell_depth_ = 0;       // the same of a cell of the chosen one
  int64_t paragraph_depth_ = 0;  // and of its text
  int64_t rows_ = 1;
  int64_t columns_ = 1;
  int64_t column_ = 0;
  bool in_chosen_ = false;
  bool covered_ = false;
  bool row_begun_ = false;
};

void RefusePassword(const ZipFile& zip) {
  constexpr uint64_t kMostList_bytes = 16 << 20;
  const ZipMember* list = zip.Find("META-INF/manifest.xml");
  if (list != nullptr && zip.ReadWhole(*list, kMostList_bytes).find("encryption-data") != std::string::npos) {
    throw Error(ErrorCode::kUnsupported, "the workbook has a password",
                {.file = zip.source(), .remedy = "Save it without one, or as CSV UTF-8."});
  }
}

}  // namespace

std::optional<Sheet> ReadOdsSheet(const ZipFile& zip, const SheetQuery& query) {
  constexpr uint64_t kMostType_bytes = 1 << 10;
  const ZipMember* type = zip.Find("mimetype");
  const ZipMember* content = zip.Find("content.xml");
  if (type == nullptr || !zip.ReadWhole(*type, kMostType_bytes).starts_with(kOdsType)) {
    return std::nullopt;
  }
  RefusePassword(zip);
  if (content == nullptr) {
    throw Error(ErrorCode::kBadData, "'content.xml', which holds the sheets, is not in it",
                {.file = zip.source(), .remedy = "Save the file again by a spreadsheet program."});
  }
  SheetCells cells(zip.source(), query.decimal, query.most_bytes);
  ContentHandler handler(query, cells, zip.source());
  ReadXml(zip, *content, handler);
  if (!handler.chosen) {
    ThrowNoSheet(handler.sheets, query.name, zip.source());
  }
  return FinishSheet(std::move(cells), handler.sheets, *handler.chosen, query, zip.source());
}

}  // namespace lamina
