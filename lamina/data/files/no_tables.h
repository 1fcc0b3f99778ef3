// Files that people take for tables: what they are, and what makes a table of them. Private to the readers.
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// `start`: the first bytes of the file. Throws Error(kUnsupported) for JSON, web pages, XML, the dump of a data base,
/// ARFF, PDF and files of other programs, with what to do; does nothing for all others.
void RefuseWhatIsNoTable(std::string_view start, const std::string& path);

}  // namespace lamina
