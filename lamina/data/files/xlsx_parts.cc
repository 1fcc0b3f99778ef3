// Elements are known by their local names: there are two families of namespaces, and some programs invent a third.
#include "lamina/data/files/xlsx_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "lamina/base/text.h"

namespace lamina {
namespace {

// A base for handlers that look at starts only, or at ends or text beside them.
class PartHandler : public XmlHandler {
 public:
  void End(XmlName /*name*/) override {}
  void Text(std::string_view /*text*/) override {}
};

// "xl/worksheets/sheet1.xml" of "../xl/worksheets/sheet1.xml" or "/xl/worksheets/sheet1.xml".
std::string PathOf(std::string_view folder, std::string_view target) {
  const std::string joined =
      target.starts_with('/') ? std::string(target.substr(1)) : fmt::format("{}{}", folder, target);
  std::vector<std::string_view> kept;
  for (const std::string_view name : SplitText(joined, '/')) {
    if (name == "..") {
      kept.resize(kept.size() - (kept.empty() ? 0 : 1));
    } else if (!name.empty() && name != ".") {
      kept.push_back(name);
    }
  }
  return fmt::format("{}", fmt::join(kept, "/"));
}

class RelationsHandler : public PartHandler {
 public:
  explicit RelationsHandler(std::string_view folder) : folder_(folder) {}
  void Start(const XmlElement& element) override {
    if (element.name.local != "Relationship" || element.Get("TargetMode") == "External") {
      return;
    }
    const std::string_view type = element.Get("Type");
    relations.push_back({std::string(element.Get("Id")), std::string(type.substr(type.rfind('/') + 1)),
                         PathOf(folder_, element.Get("Target"))});
  }
  std::vector<XlsxRelation> relations;

 private:
  std::string folder_;
};

class BookHandler : public PartHandler {
 public:
  void Start(const XmlElement& element) override {
    if (element.name.local == "workbookPr") {
      const std::string_view since = element.Get("date1904");
      book.since_1904 = since == "1" || since == "true" || since == "on";
    } else if (element.name.local == "sheet") {
      const std::string_view state = element.Get("state");
      book.sheets.push_back({std::string(element.Get("name")), state == "hidden" || state == "veryHidden"});
      book.relations.emplace_back(element.Get("id"));
    }
  }
  XlsxBook book;
};

class StylesHandler : public PartHandler {
 public:
  void Start(const XmlElement& element) override {
    const std::string_view name = element.name.local;
    if (name == "numFmts" || name == "cellXfs") {
      list_ = name == "numFmts" ? List::kCodes : List::kStyles;
    } else if (name == "numFmt" && list_ == List::kCodes) {
      codes_[std::string(element.Get("numFmtId"))] = FormatOfCode(element.Get("formatCode"));
    } else if (name == "xf" && list_ == List::kStyles) {
      const std::string number(element.Get("numFmtId"));
      const auto code = codes_.find(number);
      formats.push_back(code != codes_.end() ? code->second : BuiltInFormat(ParseInteger(number).value_or(0)));
    }
  }
  void End(XmlName name) override {
    if (name.local == "numFmts" || name.local == "cellXfs") {
      list_ = List::kOther;
    }
  }
  std::vector<CellFormat> formats;

 private:
  enum class List { kOther, kCodes, kStyles };
  List list_ = List::kOther;
  std::map<std::string, CellFormat> codes_;
};

class SharedTextsHandler : public XmlHandler {
 public:
  void Start(const XmlElement& element) override {
    if (element.name.local == "si") {
      text_.Clear();
    } else {
      text_.Start(element.name.local);
    }
  }
  void End(XmlName name) override {
    if (name.local == "si") {
      texts.Add(WithoutEscapes(text_.text()));
    } else {
      text_.End(name.local);
    }
  }
  void Text(std::string_view text) override { text_.Text(text); }
  SharedTexts texts;

 private:
  RichText text_;
};

void AppendUtf8(uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

std::vector<XlsxRelation> ReadRelations(const ZipFile& zip, std::string_view path) {
  const size_t name = path.rfind('/') + 1;  // 0 where there is no folder
  const ZipMember* member = zip.Find(fmt::format("{}_rels/{}.rels", path.substr(0, name), path.substr(name)));
  if (member == nullptr) {
    return {};
  }
  RelationsHandler handler(path.substr(0, name));
  ReadXml(zip, *member, handler);
  return std::move(handler.relations);
}

XlsxBook ReadXlsxBook(const ZipFile& zip, const ZipMember& member) {
  BookHandler handler;
  ReadXml(zip, member, handler);
  return std::move(handler.book);
}

std::vector<CellFormat> ReadCellFormats(const ZipFile& zip, const ZipMember& member) {
  StylesHandler handler;
  ReadXml(zip, member, handler);
  return std::move(handler.formats);
}

void SharedTexts::Add(std::string_view text) {
  texts_ += text;
  ends_.push_back(texts_.size());
}

SharedTexts ReadSharedTexts(const ZipFile& zip, const ZipMember& member) {
  SharedTextsHandler handler;
  ReadXml(zip, member, handler);
  return std::move(handler.texts);
}

void RichText::Start(std::string_view local) {
  in_text_ = in_text_ || local == "t";
  phonetic_ += local == "rPh" ? 1 : 0;
}

void RichText::End(std::string_view local) {
  in_text_ = in_text_ && local != "t";
  phonetic_ -= local == "rPh" ? 1 : 0;
}

std::string WithoutEscapes(std::string_view text) {
  constexpr size_t kEscape = 7;  // _x000D_
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const std::string_view escape = text.substr(at, kEscape);
    uint32_t code = 0;
    if (escape.size() == kEscape && escape.starts_with("_x") && escape.back() == '_' &&
        std::from_chars(escape.data() + 2, escape.data() + kEscape - 1, code, 16).ptr == escape.data() + kEscape - 1) {
      at += kEscape;
      const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
      if ((code >= ' ' || code == '\n' || code == '\t') && !is_surrogate) {
        AppendUtf8(code, plain);
      }
      continue;
    }
    plain += text[at++];
  }
  return plain;
}

}  // namespace lamina
