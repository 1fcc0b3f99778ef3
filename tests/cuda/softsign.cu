// The activation of a user's .cu file.
#include "tests/cuda/softsign.h"

#include "lamina/backend/cuda/custom_activation.cuh"

namespace lamina {

Activation SoftsignOnDevice() { return cuda::CustomActivation<Softsign>(); }

}  // namespace lamina
