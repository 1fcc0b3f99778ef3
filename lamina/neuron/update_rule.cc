// Names of update rules.
#include "lamina/neuron/update_rule.h"

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {

std::vector<std::string> UpdateKindNames() { return {"sgd", "nesterov", "adam"}; }

std::string_view UpdateKindName(UpdateKind kind) {
  constexpr std::string_view kNames[] = {"sgd", "nesterov", "adam"};
  return kNames[static_cast<size_t>(kind)];
}

UpdateKind ParseUpdateKind(std::string_view name) {
  const std::vector<std::string> names = UpdateKindNames();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return static_cast<UpdateKind>(i);
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown update rule",
              {.value = std::string(name), .remedy = DidYouMean(name, names) + "Known: sgd, nesterov, adam."});
}

}  // namespace lamina
