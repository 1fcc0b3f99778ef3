// The columns of one table that a Preprocessor uses. Private to the Preprocessor.
#pragma once

#include <vector>

#include "lamina/data/encode/preprocessor.h"

namespace lamina {

struct Preprocessor::Binding {
  std::vector<const Column*> inputs;   // as inputs_
  std::vector<const Column*> targets;  // as targets_, or empty
  const Column* baseline = nullptr;    // with targets only
};

}  // namespace lamina
