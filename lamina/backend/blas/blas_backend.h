// Backend "blas": the layer's products through CBLAS, whichever implementation is installed.
#pragma once

#include <memory>

#include "lamina/backend/backend.h"

namespace lamina {

/// No in a build without CBLAS, and where it cannot be opened, which the first call does.
Verdict BlasAvailable();
std::unique_ptr<Backend> MakeBlasBackend(const BackendOptions& options);
/// "OpenBLAS 0.3.21 (Haswell kernels)", "CBLAS", or "" in a build without it.
std::string BlasDescription();

}  // namespace lamina
