// What mistakes cost: from a file, from a model, by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace lamina {

/// What predicting one class for another costs.
struct CostMatrix {
  std::vector<std::string> classes;
  std::vector<std::vector<double>> costs;  // [true class][predicted class]

  bool empty() const { return classes.empty(); }
  /// "kddcup99", or a CSV file. Its header names the predicted classes behind a first field that is free. A line is a
  /// true class and its costs. Throws Error.
  static CostMatrix Read(const std::string& name_or_path);
  /// The file that Read() reads, "" for a name.
  static std::string FileOf(const std::string& name_or_path);
  nlohmann::json ToJson() const;
  /// Throws Error(kBadModel).
  static CostMatrix FromJson(const nlohmann::json& json);
  /// Rows and columns in this order of classes. Throws Error(kInvalidArgument) naming a class that is absent.
  CostMatrix InOrder(std::span<const std::string> names) const;
};

}  // namespace lamina
