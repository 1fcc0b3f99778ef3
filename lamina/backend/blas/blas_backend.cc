#include "lamina/backend/blas/blas_backend.h"
namespace lamina {
Verdict BlasAvailable() { return Verdict::No("built without CBLAS"); }
std::unique_ptr<Backend> MakeBlasBackend(const BackendOptions&) { return nullptr; }
std::string BlasDescription() { return ""; }
}  // namespace lamina
