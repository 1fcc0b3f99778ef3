// cuBLASLt by dlopen. Its matrices are column-major, so a row-major product C = A B is asked for as its transpose
// B^T A^T, whose operands are the same memory.
#include "lamina/backend/cuda/cublaslt.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <tuple>

namespace lamina::cuda {
namespace {

constexpr int64_t kWorkspace_bytes = 32 << 20;  // what the library recommends for Hopper
constexpr int kAlgorithms = 8;

// The functions that are used, as the header declares them.
struct Library {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtGetVersion) version = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  std::string reason;  // why it is not usable
};

Library Load() {
  Library library;
  const std::string name = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR);
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    library.reason = fmt::format("{} is not installed or not in the search path of libraries", name);
    return library;
  }
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
    if (function == nullptr) {
      library.reason = fmt::format("{} has no function {}", name, symbol);
    }
  };
  find(library.create, "cublasLtCreate");
  find(library.destroy, "cublasLtDestroy");
  find(library.version, "cublasLtGetVersion");
  find(library.matmul, "cublasLtMatmul");
  find(library.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(library.desc_create, "cublasLtMatmulDescCreate");
  find(library.desc_destroy, "cublasLtMatmulDescDestroy");
  find(library.desc_set, "cublasLtMatmulDescSetAttribute");
  find(library.layout_create, "cublasLtMatrixLayoutCreate");
  find(library.layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(library.preference_create, "cublasLtMatmulPreferenceCreate");
  find(library.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(library.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  return library;
}

const Library& TheLibrary() {
  static const Library library = Load();
  return library;
}

cudaDataType_t TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64: return CUDA_R_64F;
    case DType::kBF16: return CUDA_R_16BF;
    case DType::kF16: return CUDA_R_16F;
    default: return CUDA_R_32F;
  }
}

// An operand of the column-major product: a row-major matrix seen as its transpose.
struct Side {
  bool transposed;
  int64_t rows, cols;  // of the column-major matrix in memory
};

}  // namespace

Verdict LtAvailable() {
  const std::string& reason = TheLibrary().reason;
  return reason.empty() ? Verdict::Yes() : Verdict::No("no cuBLASLt: " + reason);
}

std::string LtVersion() {
  if (!LtAvailable()) {
    return "";
  }
  const auto version = static_cast<int64_t>(TheLibrary().version());
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

Verdict LtSupports(const Problem& problem) {
  if (problem.layer.synapse != Synapse::kDot) {
    return Verdict::No("cuBLASLt computes dot products only");
  }
  if (IsInteger(problem.dtype)) {
    return Verdict::No("integer sums are lamina's own");
  }
  return LtAvailable();
}

struct LtProduct::State {
  // What is planned for one batch size and pair of strides.
  struct Plan {
    cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
    cublasLtMatmulAlgo_t algorithm{};
    bool ready = false;
  };
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t>;

  Device& device;
  Pass pass;
  DType dtype;
  int algorithm;
  int64_t inputs, outputs;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  void* workspace = nullptr;
  std::map<Key, Plan> plans;

  Plan& PlanFor(const ConstMatrixView& a, const ConstMatrixView& b) noexcept;
  void Make(Plan& plan, const ConstMatrixView& a, const ConstMatrixView& b) noexcept;
};

LtProduct::LtProduct(Device& device, const LayerPlanRequest& request, Pass pass, int algorithm)
    : state_(std::make_unique<State>(
          State{device, pass, request.dtype, algorithm, request.layer.inputs, request.layer.outputs})) {
  const Library& library = TheLibrary();
  const bool is_f64 = request.dtype == DType::kF64;
  const bool tf32 = request.dtype == DType::kF32 && request.precision == Precision::kFast;
  const cublasComputeType_t compute = is_f64 ? CUBLAS_COMPUTE_64F
                                      : tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                             : CUBLAS_COMPUTE_32F;
  if (library.create(&state_->handle) != CUBLAS_STATUS_SUCCESS ||
      library.desc_create(&state_->desc, compute, is_f64 ? CUDA_R_64F : CUDA_R_32F) != CUBLAS_STATUS_SUCCESS) {
    throw Error(ErrorCode::kUnsupported, "cuBLASLt could not be started");
  }
  // Row-major C = A B^T (forward), A B (input gradient), A^T B (weight gradient); the library's first operand is B.
  const cublasOperation_t first = pass == Pass::kForward ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = pass == Pass::kWeightGradient ? CUBLAS_OP_T : CUBLAS_OP_N;
  library.desc_set(state_->desc, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first));
  library.desc_set(state_->desc, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second));
  state_->workspace = device.Allocate(kWorkspace_bytes);
}

LtProduct::~LtProduct() {
  const Library& library = TheLibrary();
  for (auto& [key, plan] : state_->plans) {
    for (cublasLtMatrixLayout_t layout : {plan.first, plan.second, plan.result}) {
      if (layout != nullptr) {
        library.layout_destroy(layout);
      }
    }
  }
  if (state_->desc != nullptr) {
    library.desc_destroy(state_->desc);
  }
  if (state_->handle != nullptr) {
    library.destroy(state_->handle);
  }
  state_->device.Free(state_->workspace);
}

void LtProduct::State::Make(Plan& plan, const ConstMatrixView& a, const ConstMatrixView& b) noexcept {
  const Library& library = TheLibrary();
  const auto layout = [&](cublasLtMatrixLayout_t& made, DType type, int64_t rows, int64_t cols, int64_t stride) {
    library.layout_create(&made, TypeOf(type), static_cast<uint64_t>(rows), static_cast<uint64_t>(cols), stride);
  };
  // A row-major matrix of r x c is a column-major one of c x r with the same stride.
  layout(plan.first, dtype, b.cols, b.rows, b.stride);
  layout(plan.second, dtype, a.cols, a.rows, a.stride);
  const int64_t rows = pass == Pass::kWeightGradient ? outputs : a.rows;
  const int64_t cols = pass == Pass::kForward ? b.rows : inputs;
  layout(plan.result, OutputType(dtype), cols, rows, cols);
  cublasLtMatmulPreference_t preference = nullptr;
  library.preference_create(&preference);
  const auto workspace_bytes = static_cast<uint64_t>(kWorkspace_bytes);
  library.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                         sizeof(workspace_bytes));
  std::array<cublasLtMatmulHeuristicResult_t, kAlgorithms> found{};
  int count = 0;
  library.heuristic(handle, desc, plan.first, plan.second, plan.result, plan.result, preference, kAlgorithms,
                    found.data(), &count);
  library.preference_destroy(preference);
  if (count == 0) {
    device.KeepError("cuBLASLt has no algorithm for a product of this size and type");
    return;
  }
  plan.algorithm = found[static_cast<size_t>(std::min(algorithm, count - 1))].algo;
  plan.ready = true;
}

LtProduct::State::Plan& LtProduct::State::PlanFor(const ConstMatrixView& a, const ConstMatrixView& b) noexcept {
  const auto [at, is_new] = plans.try_emplace(Key{a.rows, a.stride, b.rows, b.stride});
  if (is_new) {
    Make(at->second, a, b);
  }
  return at->second;
}

void LtProduct::Run(const ConstMatrixView& a, const ConstMatrixView& b, void* product) noexcept {
  State& state = *state_;
  const State::Plan& plan = state.PlanFor(a, b);
  if (!plan.ready) {
    return;
  }
  const auto multiply = [&](const auto one, const auto zero) {
    return TheLibrary().matmul(state.handle, state.desc, &one, b.data, plan.first, a.data, plan.second, &zero, product,
                               plan.result, product, plan.result, &plan.algorithm, state.workspace,
                               static_cast<size_t>(kWorkspace_bytes), static_cast<cudaStream_t>(state.device.stream()));
  };
  const cublasStatus_t status = state.dtype == DType::kF64 ? multiply(1.0, 0.0) : multiply(1.0F, 0.0F);
  if (status != CUBLAS_STATUS_SUCCESS) {
    state.device.KeepError(fmt::format("cuBLASLt product failed with status {}", static_cast<int>(status)));
  }
}

}  // namespace lamina::cuda
