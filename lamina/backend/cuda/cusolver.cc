// cuSOLVER by dlopen. Its matrices are column-major: a lower triangle by rows is an upper one to it, in the same
// memory.
#include "lamina/backend/cuda/cusolver.h"

#include <cusolverDn.h>
#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/opened_library.h"

namespace lamina::cuda {
namespace {

// The functions that are used, as the header declares them.
struct SolverFunctions {
  decltype(&cusolverDnCreate) create = nullptr;
  decltype(&cusolverDnDestroy) destroy = nullptr;
  decltype(&cusolverDnSetStream) set_stream = nullptr;
  decltype(&cusolverGetVersion) version = nullptr;
  decltype(&cusolverDnDpotrf_bufferSize) factor_size = nullptr;
  decltype(&cusolverDnDpotrf) factor = nullptr;
  decltype(&cusolverDnDpotrs) solve = nullptr;
  decltype(&cusolverDnDpotri_bufferSize) invert_size = nullptr;
  decltype(&cusolverDnDpotri) invert = nullptr;
  std::string reason;  // why it is not usable
};

SolverFunctions FindSolver() {
  SolverFunctions library;
  OpenedLibrary opened(fmt::format("libcusolver.so.{}", CUSOLVER_VER_MAJOR));
  opened.Find(library.create, "cusolverDnCreate");
  opened.Find(library.destroy, "cusolverDnDestroy");
  opened.Find(library.set_stream, "cusolverDnSetStream");
  opened.Find(library.version, "cusolverGetVersion");
  opened.Find(library.factor_size, "cusolverDnDpotrf_bufferSize");
  opened.Find(library.factor, "cusolverDnDpotrf");
  opened.Find(library.solve, "cusolverDnDpotrs");
  opened.Find(library.invert_size, "cusolverDnDpotri_bufferSize");
  opened.Find(library.invert, "cusolverDnDpotri");
  library.reason = opened.reason();
  return library;
}

const SolverFunctions& TheSolver() {
  static const SolverFunctions library = FindSolver();
  return library;
}

void RequireDone(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("cuSOLVER: {} failed with status {}", what, static_cast<int>(status)));
  }
}

constexpr cublasFillMode_t kLowerByRows = CUBLAS_FILL_MODE_UPPER;

}  // namespace

Verdict SolverAvailable() {
  const std::string& reason = TheSolver().reason;
  return reason.empty() ? Verdict::Yes() : Verdict::No("no cuSOLVER: " + reason);
}

std::string SolverVersion() {
  int version = 0;
  if (!SolverAvailable() || TheSolver().version(&version) != CUSOLVER_STATUS_SUCCESS) {
    return "";
  }
  return fmt::format("{}.{}.{}", version / 1000, version % 1000 / 100, version % 100);
}

struct DeviceCholesky::State {
  State(Device& of, int64_t size, int64_t apart)
      : device(of), rows(static_cast<int>(size)), stride(static_cast<int>(apart)) {}
  ~State() {
    device.Free(workspace);
    device.Free(info);
    if (handle != nullptr) {
      device.Use();
      TheSolver().destroy(handle);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Device& device;
  int rows;
  int stride;
  cusolverDnHandle_t handle = nullptr;
  int work_size = 0;  // numbers
  double* workspace = nullptr;
  int* info = nullptr;
};

DeviceCholesky::DeviceCholesky(Device& device, int64_t rows, int64_t stride, bool inverts)
    : state_(std::make_unique<State>(device, rows, stride)) {
  if (const Verdict available = SolverAvailable(); !available) {
    throw Error(ErrorCode::kUnsupported, available.reason);
  }
  const SolverFunctions& library = TheSolver();
  State& state = *state_;
  device.Use();
  RequireDone(library.create(&state.handle), "starting");
  RequireDone(library.set_stream(state.handle, static_cast<cudaStream_t>(device.stream())), "taking a stream");
  RequireDone(library.factor_size(state.handle, kLowerByRows, state.rows, nullptr, state.stride, &state.work_size),
              "asking for the memory of a factor");
  if (inverts) {
    int more = 0;
    RequireDone(library.invert_size(state.handle, kLowerByRows, state.rows, nullptr, state.stride, &more),
                "asking for the memory of an inverse");
    state.work_size = std::max(state.work_size, more);
  }
  state.workspace =
      static_cast<double*>(device.Allocate(std::max(1, state.work_size) * static_cast<int64_t>(sizeof(double))));
  state.info = static_cast<int*>(device.Allocate(sizeof(int)));
}

DeviceCholesky::~DeviceCholesky() = default;

bool DeviceCholesky::Factorise(double* a) {
  State& state = *state_;
  state.device.Use();
  RequireDone(TheSolver().factor(state.handle, kLowerByRows, state.rows, a, state.stride, state.workspace,
                                 state.work_size, state.info),
              "a factor");
  int info = 0;
  state.device.Download(&info, state.info, sizeof(info));
  if (info < 0) {
    throw Error(ErrorCode::kUnsupported, fmt::format("cuSOLVER: a factor does not take its argument {}", -info));
  }
  return info == 0;
}

void DeviceCholesky::Solve(const double* a, double* x, int64_t apart, int64_t count) {
  State& state = *state_;
  state.device.Use();
  RequireDone(TheSolver().solve(state.handle, kLowerByRows, state.rows, static_cast<int>(count), a, state.stride, x,
                                static_cast<int>(apart), state.info),
              "a system");
}

void DeviceCholesky::Invert(double* a) {
  State& state = *state_;
  state.device.Use();
  RequireDone(TheSolver().invert(state.handle, kLowerByRows, state.rows, a, state.stride, state.workspace,
                                 state.work_size, state.info),
              "an inverse");
}

}  // namespace lamina::cuda
