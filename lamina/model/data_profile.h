// How the values of a model's input columns were distributed in training, so that new data can be held against it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lamina {

/// Numbers in bins between the training rows' tenths, or categories.
struct ColumnProfile {
  std::string name;
  bool is_number = false;
  std::vector<double> edges;            // numbers: a bin is up to an edge, the last above all; ascending
  std::vector<std::string> categories;  // text: the most frequent first, at most kProfileCategories
  std::vector<double> shares;           // of the rows: one a bin, or one a category and one for all others
  double missing = 0;                   // of the rows, beside the shares
  double low = 0;                       // numbers
  double high = 0;
};
inline constexpr size_t kProfileCategories = 50;

struct DataProfile {
  int64_t rows = 0;  // looked at
  std::vector<ColumnProfile> columns;
};

nlohmann::json ToJson(const DataProfile& profile);
/// Throws Error(kBadModel) for what is none.
DataProfile DataProfileFrom(const nlohmann::json& node);

}  // namespace lamina
