// Systems of kernel machines in a memory of their own. The counterpart of KernelSolver, KernelRows and AnswerSlopes
// (lamina/rbf), which compute them in host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lamina/backend/kernel_shape.h"
#include "lamina/base/error.h"
#include "lamina/base/matrix_view.h"

namespace lamina {

/// What systems are prepared for.
struct DeviceKernelsRequest {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t outputs = 0;
  int64_t stride = 0;    // from output to output of targets and alpha: element (i, c) is at c * stride + i
  bool inverse = false;  // of the systems; else their factors stay
};

/// A system A alpha = targets: A is the kernel of the rows, with `diagonal` in the place of its diagonal.
struct DeviceSystem {
  KernelShape shape;
  const double* diagonal = nullptr;
  const double* targets = nullptr;
  double least_pivot = 0;
  double* alpha = nullptr;             // written
  double* inverse_diagonal = nullptr;  // that of A^-1, written where inverses were asked for
};

/// A machine's slopes at its own rows. t is the sign (p = 1) or the size (p = 2) of the difference along a column. w =
/// (d / scale)^power kernel(d) / d^p, 0 up to d = 1e-9.
struct DeviceSlopes {
  KernelShape shape;
  const double* alpha = nullptr;
  const double* roots = nullptr;  // of the rows' weights
};

/// Numbers are f64 and in host memory. The same bits for the same calls. One caller at a time; calls throw
/// Error(kResource | kUnsupported) of the device.
class DeviceKernels {
 public:
  virtual ~DeviceKernels() = default;
  /// Rows whose columns have been weighed, and between which distances are |.|_p from now on.
  virtual void SetRows(ConstMatrixView rows, int p) = 0;
  /// False where a pivot of the factor is not above the least.
  virtual bool Solve(const DeviceSystem& system) = 0;
  /// The lower triangle of the inverse of the last system solved, or of its factor; rows × rows, row by row. What is
  /// above stands for nothing. Not after SlopeProducts().
  virtual void Download(double* lower) = 0;
  /// products[j * columns + k] = sum over rows i and outputs of root_i^2 s_j s_k, where s_j is the sum over rows m of
  /// w_im alpha_m t(x_ij - x_mj).
  virtual void SlopeProducts(const DeviceSlopes& slopes, double* products) = 0;
};

/// What a backend is, too, if it can do that.
class MakesDeviceKernels {
 public:
  virtual ~MakesDeviceKernels() = default;
  /// Whether it can here, for so many rows; the reason otherwise.
  virtual Verdict KernelsAvailable(int64_t rows) const = 0;
  /// By what, where it can: "cuda: cuSOLVER 12.0.4".
  virtual std::string DescribeKernels() const = 0;
  /// Memory that systems take at least, to be compared with Backend::FreeMemory_bytes().
  virtual int64_t KernelsBytes(const DeviceKernelsRequest& request) const = 0;
  /// Throws Error where KernelsAvailable() says no, and Error(kResource) where memory is short.
  virtual std::unique_ptr<DeviceKernels> MakeKernels(const DeviceKernelsRequest& request) const = 0;
};

}  // namespace lamina
