// Shared libraries that are opened while the program runs, so that it starts and works where they are not there.
#pragma once

#include <string>
#include <vector>

namespace lamina {

/// One of them, which stays open as long as the process lives.
class OpenedLibrary {
 public:
  /// `name` as the loader of the system looks it up.
  explicit OpenedLibrary(std::string name);

  /// Why it cannot be used: it is not there, or lacks a function; "" where it can.
  const std::string& reason() const { return reason_; }
  /// Points `function` at the function of that name; null where the library has none, which is a reason then.
  template <class Function>
  void Find(Function*& function, const char* name) {
    FindIfThere(function, name);
    if (function == nullptr) {
      Lacks(name);
    }
  }
  /// The same where it works without, too.
  template <class Function>
  void FindIfThere(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(Address(name));
  }

 private:
  void* Address(const char* name) const;
  void Lacks(const char* name);

  std::string name_;
  void* handle_ = nullptr;
  std::string reason_;
};

/// Where the plug-in NAME.so may be: beside the program, or beside the shared library that has this function. From
/// there also in ../lib/lamina (installed), in lamina, or in a Python package of that name beside lamina's.
std::vector<std::string> PluginPlaces(const std::string& name);

}  // namespace lamina
