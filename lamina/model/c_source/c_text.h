// Pieces of C: identifiers made of names, strings, comments and numbers.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace lamina {

/// Stands for the name of the model in text of CWriter, and what stands for that letter itself.
inline constexpr char kNameMark = '@';
inline constexpr char kKeptMark = '\1';

/// What C code may begin its names with. Throws Error(kInvalidArgument) for what is no identifier, begins with an
/// underscore, or would make a file that hides a header of C.
void RequireCName(std::string_view name);

/// Letters and digits of ASCII in upper case: the name of a macro.
std::string UpperCName(std::string_view name);

/// Identifiers of one kind, each once. Letters and digits of ASCII stay, a run of others becomes one underscore.
class CNames {
 public:
  explicit CNames(std::string prefix) : prefix_(std::move(prefix)) {}
  /// The prefix and what is left of `name`, or `number` where nothing is; with "_2", "_3" where that was given before.
  std::string Add(std::string_view name, int64_t number);

 private:
  std::string prefix_;
  std::set<std::string> taken_;
};

/// A string literal; bytes beyond ASCII in octal. Throws Error(kUnsupported) where C99 need not take it (above 4095).
std::string CString(std::string_view text);

/// The inside of a comment: on one line, nothing that ends it or begins another.
std::string CComment(std::string_view text);

/// The shortest literal that is `value`, of type double or float ("F" behind it); NAN. Finite numbers and NaN.
std::string CDouble(double value);
std::string CFloat(float value);

}  // namespace lamina
