// Profiles as JSON.
#include "lamina/model/data_profile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/model/checked_json.h"

namespace lamina {

using nlohmann::json;

json ToJson(const DataProfile& profile) {
  json columns = json::array();
  for (const ColumnProfile& column : profile.columns) {
    json node = {{"name", column.name}, {"shares", column.shares}, {"missing", column.missing}};
    if (column.is_number) {
      node["edges"] = column.edges;
      node["low"] = column.low;
      node["high"] = column.high;
    } else {
      node["categories"] = column.categories;
    }
    columns.push_back(std::move(node));
  }
  return {{"rows", profile.rows}, {"columns", std::move(columns)}};
}

DataProfile DataProfileFrom(const json& node) {
  DataProfile profile;
  profile.rows = IntegerAt(node, "rows");
  for (const json& entry : node.at("columns")) {
    ColumnProfile column;
    column.name = entry.at("name").get<std::string>();
    column.shares = entry.at("shares").get<std::vector<double>>();
    column.missing = entry.at("missing").get<double>();
    column.is_number = entry.contains("edges");
    if (column.is_number) {
      column.edges = entry.at("edges").get<std::vector<double>>();
      column.low = entry.at("low").get<double>();
      column.high = entry.at("high").get<double>();
    } else {
      column.categories = entry.at("categories").get<std::vector<std::string>>();
    }
    const size_t bins = column.is_number ? column.edges.size() : column.categories.size();
    if (column.shares.size() != bins + 1 || !std::is_sorted(column.edges.begin(), column.edges.end()) ||
        std::any_of(column.shares.begin(), column.shares.end(), [](double x) { return !(x >= 0 && x <= 1); })) {
      throw Error(ErrorCode::kBadModel, "the profile of column '" + column.name + "' is wrong");
    }
    profile.columns.push_back(std::move(column));
  }
  return profile;
}

}  // namespace lamina
