// A stand-in for cuSOLVER: factors, systems and inverses by plain loops, of the lower triangle alone, when the device's
// queue comes to them.
#include "lamina/backend/cuda/cusolver.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/cuda/emulated_backend.h"

namespace lamina::cuda_emulated {
namespace {

bool& SolverIsThere() {
  static bool there = true;
  return there;
}

// L x = b, or L' x = b, in place.
void Substitute(const double* a, int64_t rows, int64_t stride, bool turned, double* x) {
  const auto l = [&](int64_t i, int64_t j) { return turned ? a[j * stride + i] : a[i * stride + j]; };
  for (int64_t n = 0; n < rows; ++n) {
    const int64_t i = turned ? rows - 1 - n : n;
    for (int64_t m = 0; m < n; ++m) {
      const int64_t j = turned ? rows - 1 - m : m;
      x[i] -= l(i, j) * x[j];
    }
    x[i] /= l(i, i);
  }
}

}  // namespace

void SetEmulatedSolver(bool available) { SolverIsThere() = available; }

Verdict SolverAvailable() { return SolverIsThere() ? Verdict::Yes() : Verdict::No("no cuSOLVER: it is not emulated"); }
std::string SolverVersion() { return SolverIsThere() ? "emulated" : ""; }

struct DeviceCholesky::State {
  Device& device;
  int64_t rows;
  int64_t stride;
  bool inverts;
  int* info;
};

DeviceCholesky::DeviceCholesky(Device& device, int64_t rows, int64_t stride, bool inverts) {
  if (const Verdict available = SolverAvailable(); !available) {
    throw Error(ErrorCode::kUnsupported, available.reason);
  }
  state_ =
      std::make_unique<State>(State{device, rows, stride, inverts, static_cast<int*>(device.Allocate(sizeof(int)))});
}
DeviceCholesky::~DeviceCholesky() { state_->device.Free(state_->info); }

bool DeviceCholesky::Factorise(double* a) {
  state_->device.Enqueue([rows = state_->rows, stride = state_->stride, to = state_->info, a] {
    *to = 0;
    for (int64_t j = 0; j < rows && *to == 0; ++j) {
      for (int64_t i = j; i < rows; ++i) {
        double& element = a[i * stride + j];
        for (int64_t k = 0; k < j; ++k) {
          element -= a[i * stride + k] * a[j * stride + k];
        }
        if (i == j && !(element > 0)) {
          *to = static_cast<int>(j) + 1;
          break;
        }
        element = i == j ? std::sqrt(element) : element / a[j * stride + j];
      }
    }
  });
  int info = 0;
  state_->device.Download(&info, state_->info, sizeof(info));
  return info == 0;
}

void DeviceCholesky::Solve(const double* a, double* x, int64_t apart, int64_t count) {
  state_->device.Enqueue([rows = state_->rows, stride = state_->stride, a, x, apart, count] {
    for (int64_t c = 0; c < count; ++c) {
      Substitute(a, rows, stride, /*turned=*/false, x + c * apart);
      Substitute(a, rows, stride, /*turned=*/true, x + c * apart);
    }
  });
}

void DeviceCholesky::Invert(double* a) {
  if (!state_->inverts) {
    state_->device.KeepError("the emulated cuSOLVER has no memory for an inverse");
    return;
  }
  state_->device.Enqueue([rows = state_->rows, stride = state_->stride, a] {
    std::vector<std::vector<double>> columns;
    for (int64_t j = 0; j < rows; ++j) {
      std::vector<double>& column = columns.emplace_back(static_cast<size_t>(rows));
      column[static_cast<size_t>(j)] = 1;
      Substitute(a, rows, stride, /*turned=*/false, column.data());
      Substitute(a, rows, stride, /*turned=*/true, column.data());
    }
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        a[i * stride + j] = columns[static_cast<size_t>(j)][static_cast<size_t>(i)];
      }
    }
  });
}

}  // namespace lamina::cuda_emulated
