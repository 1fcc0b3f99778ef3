// The parts of a book of Excel beside its sheets: relations, the list of sheets, styles, shared texts. Private to the
// readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/number_formats.h"
#include "lamina/data/files/sheet_cells.h"
#include "lamina/data/files/xml_reader.h"

namespace lamina {

/// A part that another one names.
struct XlsxRelation {
  std::string id;
  std::string type;  // the last word of its address: "worksheet"
  std::string path;
};
/// Those of the part `path` ("": of the whole archive); none where it has no list of them.
std::vector<XlsxRelation> ReadRelations(const ZipFile& zip, std::string_view path);

struct XlsxBook {
  std::vector<SheetName> sheets;
  std::vector<std::string> relations;  // the id of each one's part
  bool since_1904 = false;
};
XlsxBook ReadXlsxBook(const ZipFile& zip, const ZipMember& member);

/// The format of each style that cells name by its number.
std::vector<CellFormat> ReadCellFormats(const ZipFile& zip, const ZipMember& member);

/// Texts that cells name by their numbers.
class SharedTexts {
 public:
  void Add(std::string_view text);
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(texts_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string texts_;
  std::vector<size_t> ends_;
};
SharedTexts ReadSharedTexts(const ZipFile& zip, const ZipMember& member);

/// The text of <si> or <is>: of its runs, without phonetic signs. Fed with what is inside.
class RichText {
 public:
  void Clear() { text_.clear(); }
  void Start(std::string_view local);
  void End(std::string_view local);
  void Text(std::string_view text) {
    if (in_text_ && phonetic_ == 0) {
      text_ += text;
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool in_text_ = false;
  int phonetic_ = 0;
};

/// `text` with "_x000D_" and its like as the characters that they stand for; control characters are left out.
std::string WithoutEscapes(std::string_view text);

}  // namespace lamina
