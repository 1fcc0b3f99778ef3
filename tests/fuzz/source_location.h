// std::source_location for clang 14, whose libstdc++ leaves it out: included before everything else by preset "fuzz".
#pragma once

#include <version>

#ifndef __cpp_lib_source_location
namespace std {

class source_location {
 public:
  static constexpr source_location current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    source_location here;
    here.file_ = file;
    here.line_ = line;
    return here;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr unsigned line() const { return line_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
};

}  // namespace std
#endif
