// New values of targets.
#include "lamina/data/encode/new_labels.h"

#include <algorithm>
#include <vector>

namespace lamina {
namespace {

void AddNewLabel(EncodeReport& report, const EncodeReport::NewLabel& label) {
  const auto known = std::find_if(report.new_labels.begin(), report.new_labels.end(),
                                  [&](const EncodeReport::NewLabel& other) { return other.name == label.name; });
  if (known != report.new_labels.end()) {
    known->rows += label.rows;
  } else {
    report.new_labels.push_back(label);
  }
  std::stable_sort(report.new_labels.begin(), report.new_labels.end(),
                   [](const auto& a, const auto& b) { return a.rows > b.rows; });
}

}  // namespace

void AddNewLabels(const CategoryView& view, std::span<const int64_t> counts, std::span<const int32_t> index,
                  std::span<const std::string> classes, std::span<const std::string> fitted, EncodeReport& report) {
  const std::vector<int32_t> known = MatchNames(view, fitted);
  const auto spelled = [&](const std::string& name) {  // "smurf." and "smurf" are one value with a class map
    return std::find_if(fitted.begin(), fitted.end(), [&](const std::string& other) {
             return other == name + "." || other + "." == name;
           }) != fitted.end();
  };
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0 && known[i] < 0 && (index[i] < 0 || !spelled(view.names()[i]))) {
      AddNewLabel(report, {view.names()[i], index[i] < 0 ? "" : classes[static_cast<size_t>(index[i])], counts[i]});
    }
  }
}

}  // namespace lamina
