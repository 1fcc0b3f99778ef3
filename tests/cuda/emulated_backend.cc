// Hides the emulated language from the tests.
#include "tests/cuda/emulated_backend.h"

#include "lamina/backend/cuda/cuda_backend.h"
#include "lamina/backend/cuda/custom_activation.cuh"
#include "tests/cuda/softsign.h"

namespace lamina::cuda_emulated {

std::unique_ptr<Backend> MakeBackend(const BackendOptions& options) { return MakeCudaBackend(options); }
Activation SoftsignOnDevice() { return CustomActivation<Softsign>(); }

}  // namespace lamina::cuda_emulated
