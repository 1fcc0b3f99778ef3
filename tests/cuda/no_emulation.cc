// In place of the emulated backend "cuda", for suites that go without it (tests/suites.cmake).
#include "tests/cuda/emulated_backend.h"

#include "lamina/base/error.h"
#include "tests/cuda/emulated_joint.h"
#include "tests/cuda/softsign.h"

namespace lamina::cuda_emulated {

bool Compiled() { return false; }
std::unique_ptr<Backend> MakeBackend(const BackendOptions&) {
  throw Error(ErrorCode::kUnsupported, "this suite of tests goes without the emulated GPU");
}
int64_t LaunchesTogether() { return 0; }
Activation SoftsignOnDevice() { return Activation::Custom<Softsign>(); }

}  // namespace lamina::cuda_emulated
