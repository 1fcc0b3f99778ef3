// The networks of a model as its page has them, and what their outputs mean.
#pragma once

#include <nlohmann/json.hpp>

#include "lamina/model/html_page/page_blob.h"
#include "lamina/model/model.h"

namespace lamina {

/// "inputs", "dtype", "nearest" and "networks" (layers with their arrays in `blob`). Where Model::int8 is set: "int8",
/// and no networks. Throws Error(kUnsupported) for a user's own activation.
void AddPageNetworks(const Model& model, PageBlob& blob, nlohmann::json& page);

/// "targets": classes, or units of each output; "intervals".
void AddPageTargets(const Model& model, nlohmann::json& page);

}  // namespace lamina
