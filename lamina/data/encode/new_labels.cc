// New values of targets.
#include "lamina/data/encode/new_labels.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace lamina {

void AddNewLabels(const CategoryView& view, std::span<const int64_t> counts, std::span<const int32_t> index,
                  std::span<const std::string> classes, std::span<const std::string> fitted, EncodeReport& report) {
  const std::vector<int32_t> known = MatchNames(view, fitted);
  const auto spelled = [&](const std::string& name) {  // "smurf." and "smurf" are one value with a class map
    return std::find_if(fitted.begin(), fitted.end(), [&](const std::string& other) {
             return other == name + "." || other + "." == name;
           }) != fitted.end();
  };
  std::unordered_map<std::string, size_t> places;  // of what other parts met
  for (size_t i = 0; i < report.new_labels.size(); ++i) {
    places.emplace(report.new_labels[i].name, i);
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0 || known[i] >= 0 || (index[i] >= 0 && spelled(view.names()[i]))) {
      continue;
    }
    const auto [place, added] = places.try_emplace(view.names()[i], report.new_labels.size());
    if (added) {
      report.new_labels.push_back({view.names()[i], index[i] < 0 ? "" : classes[static_cast<size_t>(index[i])], 0});
    }
    report.new_labels[place->second].rows += counts[i];
  }
  std::stable_sort(report.new_labels.begin(), report.new_labels.end(),
                   [](const auto& a, const auto& b) { return a.rows > b.rows; });
}

}  // namespace lamina
