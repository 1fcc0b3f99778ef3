// What a handler throws waits until expat, which is C, has returned.
#include "lamina/data/files/xml_reader.h"

#include <expat.h>
#include <fmt/format.h>

#include <exception>
#include <memory>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr char kSpaceEnd = '|';  // between namespace and name, which has none

XmlName SplitName(std::string_view name) {
  const size_t end = name.rfind(kSpaceEnd);
  return end == std::string_view::npos ? XmlName{{}, name} : XmlName{name.substr(0, end), name.substr(end + 1)};
}

struct ParserState {
  XML_Parser parser = nullptr;
  XmlHandler* handler = nullptr;
  std::exception_ptr failed = nullptr;
  bool has_dtd = false;

  template <class Fn>
  void Call(const Fn& fn) {
    if (failed != nullptr) {
      return;  // calls that were on their way when the parser was stopped
    }
    try {
      fn();
    } catch (...) {
      failed = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }
};

ParserState& StateOf(void* user_data) { return *static_cast<ParserState*>(user_data); }

void OnStart(void* user_data, const XML_Char* name, const XML_Char** attributes) {
  ParserState& state = StateOf(user_data);
  state.Call([&] { state.handler->Start({SplitName(name), attributes}); });
}

void OnEnd(void* user_data, const XML_Char* name) {
  ParserState& state = StateOf(user_data);
  state.Call([&] { state.handler->End(SplitName(name)); });
}

void OnText(void* user_data, const XML_Char* text, int length) {
  ParserState& state = StateOf(user_data);
  state.Call([&] { state.handler->Text({text, static_cast<size_t>(length)}); });
}

void OnDtd(void* user_data, const XML_Char* /*name*/, const XML_Char* /*system*/, const XML_Char* /*id*/, int /*own*/) {
  ParserState& state = StateOf(user_data);
  state.has_dtd = true;
  XML_StopParser(state.parser, XML_FALSE);
}

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

}  // namespace

std::optional<std::string_view> XmlElement::Find(std::string_view local, std::string_view space) const {
  for (const char* const* at = attributes_; *at != nullptr; at += 2) {
    const XmlName name_of = SplitName(at[0]);
    if (name_of.local == local && (space.empty() || name_of.space == space)) {
      return at[1];
    }
  }
  return std::nullopt;
}

void ReadXml(const ZipFile& zip, const ZipMember& member, XmlHandler& handler) {
  const std::unique_ptr<XML_ParserStruct, FreeParser> parser(XML_ParserCreateNS(nullptr, kSpaceEnd));
  if (parser == nullptr) {
    // no test: some KiB that a process does not get
    throw Error(ErrorCode::kResource, "not enough memory to read it", {.file = zip.source()});
  }
  ParserState state{parser.get(), &handler};
  XML_SetUserData(parser.get(), &state);
  XML_SetElementHandler(parser.get(), &OnStart, &OnEnd);
  XML_SetCharacterDataHandler(parser.get(), &OnText);
  XML_SetStartDoctypeDeclHandler(parser.get(), &OnDtd);
  const auto parse = [&](std::string_view piece, bool last) {
    constexpr size_t kPiece_bytes = 1 << 20;  // lengths are int
    for (bool more = true; more;) {
      const std::string_view some = piece.substr(0, kPiece_bytes);
      piece.remove_prefix(some.size());
      more = !piece.empty();
      if (XML_Parse(parser.get(), some.data(), static_cast<int>(some.size()), last ? XML_TRUE : XML_FALSE) !=
          XML_STATUS_ERROR) {
        continue;
      }
      if (state.failed != nullptr) {
        std::rethrow_exception(state.failed);
      }
      const std::string name = WithoutControls(Excerpt(member.name));
      if (state.has_dtd) {
        throw Error(ErrorCode::kBadData, fmt::format("'{}' in it has a DTD, which workbooks do not have", name),
                    {.file = zip.source(), .remedy = "Save the file again by a spreadsheet program."});
      }
      throw Error(ErrorCode::kBadData,
                  fmt::format("'{}' in it is no XML: {}, in its line {}", name,
                              XML_ErrorString(XML_GetErrorCode(parser.get())), XML_GetCurrentLineNumber(parser.get())),
                  {.file = zip.source(), .remedy = "Save the file again by a spreadsheet program."});
    }
  };
  zip.Read(member, [&](std::string_view piece) { parse(piece, /*last=*/false); });
  parse("", /*last=*/true);
}

}  // namespace lamina
