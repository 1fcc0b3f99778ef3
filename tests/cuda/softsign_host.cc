// Without the toolkit the activation has host code only.
#include "tests/cuda/softsign.h"

namespace lamina {

Activation SoftsignOnDevice() { return Activation::Custom<Softsign>(); }

}  // namespace lamina
