// The XML in books, read piece by piece with expat. Private to the readers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lamina/data/files/zip_file.h"

namespace lamina {

struct XmlName {
  std::string_view space;  // the address that the prefix stands for
  std::string_view local;
};

/// The start of an element; valid during the call.
class XmlElement {
 public:
  XmlElement(XmlName the_name, const char* const* attributes) : name(the_name), attributes_(attributes) {}

  XmlName name;

  /// The value of an attribute. `space`: what its namespace must be; "": any.
  std::optional<std::string_view> Find(std::string_view local, std::string_view space = {}) const;
  /// The same, "" where there is none.
  std::string_view Get(std::string_view local, std::string_view space = {}) const {
    return Find(local, space).value_or(std::string_view());
  }

 private:
  const char* const* attributes_;
};

/// What is told of a document, in its order. May throw.
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual void Start(const XmlElement& element) = 0;
  virtual void End(XmlName name) = 0;
  virtual void Text(std::string_view text) = 0;
};

/// Reads a member as XML. Documents with a DTD are refused, so that there are no entities but those of XML itself.
/// Throws Error(kBadData) and what `handler` throws.
void ReadXml(const ZipFile& zip, const ZipMember& member, XmlHandler& handler);

}  // namespace lamina
