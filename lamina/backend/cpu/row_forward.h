// Forward pass of one row on the calling thread, for single answers.
#pragma once

#include "lamina/backend/backend.h"

namespace lamina::cpu {

/// As PreparedLayer::Forward of an f32 or f64 layer, with nothing prepared: it allocates nothing, takes no lock and
/// keeps no state, so any number of threads may call it at once. Few rows: nothing is packed.
void ForwardRows(const LayerSpec& layer, const ForwardArgs& args) noexcept;

}  // namespace lamina::cpu
