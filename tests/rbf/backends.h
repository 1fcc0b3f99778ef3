// The backends that methods of distances run on.
#pragma once

#include <vector>

#include "tests/conformance/configurations.h"

namespace lamina {

/// Only one is on the emulated GPU, as the kernels that options name are those of layers.
inline std::vector<conformance::Configuration> WithDistances() {
  std::vector<conformance::Configuration> all = conformance::AllConfigurations();
  std::erase_if(all, [](const conformance::Configuration& each) {
    return !each.Supports(Synapse::kL1) || (each.backend == conformance::kEmulatedCuda && each.kernel != "auto");
  });
  return all;
}

}  // namespace lamina
