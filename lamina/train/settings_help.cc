// Help texts that follow the library's lists of formulas.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lamina/train/settings.h"

namespace lamina {
namespace {

// "a", "a and b", "a, b and c".
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

// "0.05 for sgd and nesterov, 0.001 for adam".
std::string NumbersOfRules(double (*number)(UpdateKind), bool (*reads)(UpdateKind)) {
  std::vector<std::pair<double, std::vector<std::string>>> groups;
  for (const std::string& name : UpdateKindNames()) {
    const UpdateKind kind = ParseUpdateKind(name);
    if (!reads(kind)) {
      continue;
    }
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == number(kind); });
    if (same == groups.end()) {
      groups.push_back({number(kind), {name}});
    } else {
      same->second.push_back(name);
    }
  }
  std::string text;
  for (const auto& [value, names] : groups) {
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", value, Listed(names));
  }
  return text;
}

}  // namespace

std::string ActivationHelp() {
  std::string text;
  for (const std::string& name : ActivationNames()) {
    if (const Activation activation(name); !activation.is_softmax()) {
      text += (text.empty() ? "" : ", ") + activation.Text();
    }
  }
  return text;
}

std::string LossHelp() {
  std::string text = "auto";
  for (const std::string& name : LossNames()) {
    text += ", " + Loss::Parse(name).Text();
  }
  return text;
}

std::string UpdateHelp() { return fmt::format("{}", fmt::join(UpdateKindNames(), ", ")); }

std::string UpdateNumberHelp(std::string_view number) {
  std::vector<std::string> names;
  for (const std::string& name : UpdateKindNames()) {
    if (UpdateReads(ParseUpdateKind(name), number)) {
      names.push_back(name);
    }
  }
  return "For " + Listed(names);
}

std::string LearningRateHelp() {
  return "Default: " + NumbersOfRules(&DefaultLearningRate, [](UpdateKind) { return true; });
}

std::string Beta2Help() {
  return "Default: " + NumbersOfRules(&DefaultBeta2, [](UpdateKind kind) { return UpdateReads(kind, "beta2"); });
}

}  // namespace lamina
