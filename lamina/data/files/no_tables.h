// Files that people take for tables: what they are, and what makes a table of them. Private to the readers.
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// `start`: the first bytes of the file. Throws Error(kUnsupported), with what to do, for JSON, web pages, XML, ARFF
/// and PDF. Also for dumps of data bases and files of other programs; does nothing for all others.
void RefuseWhatIsNoTable(std::string_view start, const std::string& path);

}  // namespace lamina
