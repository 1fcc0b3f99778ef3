// Zip archives and small books for tests: what a spreadsheet program writes, as far as readers look at it.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lamina {

using BookParts = std::vector<std::pair<std::string, std::string>>;  // name and content

inline std::string Deflated(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string packed(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int done = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) {
    throw std::runtime_error("deflate");
  }
  return packed;
}

inline std::string LittleEndianBytes(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += i < 8 ? static_cast<char>(number >> (8 * i) & 0xFF) : '\0';
  }
  return text;
}

/// An archive of `parts` in their order; `packed`: deflated, else stored.
inline std::string ZipOf(const BookParts& parts, bool packed = true) {
  std::string archive;
  std::string list;
  for (const auto& [name, content] : parts) {
    const std::string data = packed ? Deflated(content) : content;
    const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
    const uLong sum = content.empty() ? 0 : crc32(0, bytes, static_cast<uInt>(content.size()));
    const std::string facts = LittleEndianBytes(0, 2) + LittleEndianBytes(packed ? 8 : 0, 2) + LittleEndianBytes(0, 4) +
                              LittleEndianBytes(sum, 4) + LittleEndianBytes(data.size(), 4) +
                              LittleEndianBytes(content.size(), 4) + LittleEndianBytes(name.size(), 2) +
                              LittleEndianBytes(0, 2);
    list += "PK\x01\x02" + LittleEndianBytes(20, 2) + LittleEndianBytes(20, 2) + facts + LittleEndianBytes(0, 10) +
            LittleEndianBytes(archive.size(), 4) + name;
    archive += "PK\x03\x04" + LittleEndianBytes(20, 2) + facts + name + data;
  }
  const size_t begin = archive.size();
  return archive + list + "PK\x05\x06" + LittleEndianBytes(0, 4) + LittleEndianBytes(parts.size(), 2) +
         LittleEndianBytes(parts.size(), 2) + LittleEndianBytes(list.size(), 4) + LittleEndianBytes(begin, 4) +
         LittleEndianBytes(0, 2);
}

/// The parts of an .xlsx book. `sheets`: name and what <sheetData> holds; a name that begins with '~' is that of a
/// hidden sheet without the '~'. `styles`: what <styleSheet> holds. `texts`: what <sst> holds.
inline BookParts XlsxParts(const BookParts& sheets, const std::string& styles = "", const std::string& texts = "",
                           const std::string& properties = "") {
  const std::string office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const std::string main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
  const std::string relations =
      "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">";
  const auto relation = [&](const std::string& id, const std::string& type, const std::string& target) {
    return "<Relationship Id=\"" + id + "\" Type=\"" + office + "/" + type + "\" Target=\"" + target + "\"/>";
  };
  std::string list;
  std::string parts_of_book =
      relation("t", "sharedStrings", "sharedStrings.xml") + relation("s", "styles", "styles.xml");
  BookParts parts{
      {"[Content_Types].xml", "<Types/>"},
      {"_rels/.rels", relations + relation("r", "officeDocument", "/xl/workbook.xml") + "</Relationships>"}};
  for (size_t i = 0; i < sheets.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const bool hidden = sheets[i].first.starts_with('~');
    list += "<sheet name=\"" + sheets[i].first.substr(hidden ? 1 : 0) + "\" sheetId=\"" + number + "\" r:id=\"r" +
            number + "\"" + (hidden ? " state=\"hidden\"" : "") + "/>";
    parts_of_book += relation("r" + number, "worksheet", "worksheets/sheet" + number + ".xml");
    parts.emplace_back("xl/worksheets/sheet" + number + ".xml",
                       "<worksheet " + main + "><sheetData>" + sheets[i].second + "</sheetData></worksheet>");
  }
  parts.emplace_back("xl/workbook.xml", "<workbook " + main + " xmlns:r=\"" + office + "\">" + properties + "<sheets>" +
                                            list + "</sheets></workbook>");
  parts.emplace_back("xl/_rels/workbook.xml.rels", relations + parts_of_book + "</Relationships>");
  parts.emplace_back("xl/styles.xml", "<styleSheet " + main + ">" + styles + "</styleSheet>");
  parts.emplace_back("xl/sharedStrings.xml", "<sst " + main + ">" + texts + "</sst>");
  return parts;
}

/// The parts of an .ods book. `styles`: what <office:automatic-styles> holds; `tables`: what <office:spreadsheet> does.
inline BookParts OdsParts(const std::string& tables, const std::string& styles = "") {
  std::string spaces;
  for (const char* name : {"office", "table", "text", "style"}) {
    spaces += std::string(" xmlns:") + name + "=\"urn:oasis:names:tc:opendocument:xmlns:" + name + ":1.0\"";
  }
  spaces += " xmlns:calcext=\"urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0\"";
  return {{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"},
          {"content.xml", "<office:document-content" + spaces + "><office:automatic-styles>" + styles +
                              "</office:automatic-styles><office:body><office:spreadsheet>" + tables +
                              "</office:spreadsheet></office:body></office:document-content>"}};
}

}  // namespace lamina
