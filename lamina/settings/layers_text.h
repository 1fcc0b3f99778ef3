// The text of --layers whose last layer is "auto": the output layer that the target needs.
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// "rbf:64,auto" leaves the output layer to the target, as without --layers; "auto" alone has no other layer.
inline bool EndsInAuto(const std::string& layers) { return layers == "auto" || layers.ends_with(",auto"); }

/// What stands before that.
inline std::string HiddenPart(const std::string& layers) {
  return layers == "auto" ? "" : layers.substr(0, layers.size() - std::string_view(",auto").size());
}

}  // namespace lamina
