// Cholesky factors by cuSOLVER, which is loaded at run time where it is installed: 450 MB with cuBLAS, cuSPARSE and
// nvJitLink that lamina does not carry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lamina/backend/cuda/device.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Whether the library was found; the reason otherwise.
Verdict SolverAvailable();
/// "12.0.4", empty where it is not available.
std::string SolverVersion();
/// Rows of a matrix at most: the library counts with 32 bits.
inline constexpr int64_t kMostSolverRows = 46'340;

/// Factors of symmetric matrices of one size in f64, in the device's memory. A matrix is `rows` rows, `stride` apart,
/// of which only the lower triangle is read and written.
class DeviceCholesky {
 public:
  /// Throws Error(kUnsupported) where SolverAvailable() says no, Error(kResource) where memory is short.
  DeviceCholesky(Device& device, int64_t rows, int64_t stride, bool inverts);
  ~DeviceCholesky();
  /// A = L L' becomes L; false at a pivot that is not positive. These throw Error(kUnsupported) where the library
  /// fails.
  bool Factorise(double* a);
  /// x = A^-1 x for `count` vectors, `apart` numbers from one to the next, where `a` holds L.
  void Solve(const double* a, double* x, int64_t apart, int64_t count);
  /// L becomes A^-1; only where it was made to invert.
  void Invert(double* a);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
