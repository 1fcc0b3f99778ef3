// Classes made of the values of a target column: many names, few classes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lamina {

/// Maps a value to the class it counts to. Classes keep the order in which they are named first.
class ClassMap {
 public:
  ClassMap() = default;
  /// Entries VALUE=CLASS, *=CLASS for every other value, or a name of ClassMapNames(). Throws
  /// Error(kInvalidArgument).
  static ClassMap Parse(const std::vector<std::string>& entries);

  bool empty() const { return entries_.empty(); }
  /// The class of `value`; itself where the map does not say.
  const std::string& Of(const std::string& value) const;
  /// `names` in the order of the map; those it does not name behind, as they were.
  std::vector<std::string> InOrder(std::vector<std::string> names) const;
  /// VALUE=CLASS, as Parse() takes them.
  std::vector<std::string> Text() const;

  bool operator==(const ClassMap&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;  // value "*": all others
};

/// Maps known by name: "kddcup99-binary", "kddcup99-categories".
std::vector<std::string> ClassMapNames();

}  // namespace lamina
