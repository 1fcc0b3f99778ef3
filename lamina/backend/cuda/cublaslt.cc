// cuBLASLt by dlopen. Its matrices are column-major, so a row-major product C = A B is asked for as its transpose
// B^T A^T, whose operands are the same memory.
#include "lamina/backend/cuda/cublaslt.h"

#include <cublasLt.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <memory>
#include <tuple>

#include "lamina/base/opened_library.h"

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
  OpenedLibrary opened(fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR));
  opened.Find(library.create, "cublasLtCreate");
  opened.Find(library.destroy, "cublasLtDestroy");
  opened.Find(library.version, "cublasLtGetVersion");
  opened.Find(library.matmul, "cublasLtMatmul");
  opened.Find(library.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  opened.Find(library.desc_create, "cublasLtMatmulDescCreate");
  opened.Find(library.desc_destroy, "cublasLtMatmulDescDestroy");
  opened.Find(library.desc_set, "cublasLtMatmulDescSetAttribute");
  opened.Find(library.layout_create, "cublasLtMatrixLayoutCreate");
  opened.Find(library.layout_destroy, "cublasLtMatrixLayoutDestroy");
  opened.Find(library.preference_create, "cublasLtMatmulPreferenceCreate");
  opened.Find(library.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  opened.Find(library.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  library.reason = opened.reason();
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

}  // namespace

// What all products of a device share: they run one after the other in its stream.
struct LtShared {
  explicit LtShared(Device& of) : device(of) {
    if (TheLibrary().create(&handle) != CUBLAS_STATUS_SUCCESS) {
      throw Error(ErrorCode::kUnsupported, "cuBLASLt could not be started");
    }
    workspace = device.Allocate(kWorkspace_bytes);
  }
  ~LtShared() {
    device.Free(workspace);
    TheLibrary().destroy(handle);
  }
  LtShared(const LtShared&) = delete;
  LtShared& operator=(const LtShared&) = delete;

  Device& device;
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
};

namespace {

LtShared& SharedOf(Device& device) {
  if (device.library() == nullptr) {
    device.library() = std::make_shared<LtShared>(device);
  }
  return *static_cast<LtShared*>(device.library().get());
}

// What the address and the rows of a matrix are multiples of, up to what the library assumes where it is not told.
uint32_t AlignmentOf(const void* data, int64_t stride, DType dtype) {
  constexpr uint64_t kAssumed_bytes = 256;
  const uint64_t all =
      reinterpret_cast<uintptr_t>(data) | static_cast<uint64_t>(stride * DTypeSize_bytes(dtype)) | kAssumed_bytes;
  return static_cast<uint32_t>(all & (~all + 1));  // the lowest bit
}

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
  // What is planned for one size and pair of strides.
  struct Plan {
    cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
    cublasLtMatmulAlgo_t algorithm{};
    bool ready = false;
  };
  using Key = std::tuple<int64_t, int64_t, int64_t, uint32_t, int64_t, int64_t, uint32_t, int64_t, uint32_t, int>;

  Device& device;
  Pass pass;
  DType dtype;
  int algorithm;
  int64_t inputs;
  LtShared* shared = nullptr;  // from the first product on: a handle and 32 MiB that may never be needed
  cublasLtMatmulDesc_t desc = nullptr;
  std::map<Key, Plan> plans;

  bool Start() noexcept;
  bool Ask(const LtResult& to) const noexcept;
  Plan& PlanFor(const ConstMatrixView& a, const ConstMatrixView& b, const LtResult& to) noexcept;
  bool Make(Plan& plan, const ConstMatrixView& a, const ConstMatrixView& b, const LtResult& to) noexcept;
  int64_t Stride(const ConstMatrixView& b, const LtResult& to) const {
    return to.stride > 0 ? to.stride : ProductCols(b);
  }
  int64_t ProductCols(const ConstMatrixView& b) const { return pass == Pass::kForward ? b.rows : inputs; }
};

LtProduct::LtProduct(Device& device, const LayerPlanRequest& request, Pass pass, int algorithm)
    : state_(std::make_unique<State>(State{device, pass, request.dtype, algorithm, request.layer.inputs})) {
  const Library& library = TheLibrary();
  const bool is_f64 = request.dtype == DType::kF64;
  cublasComputeType_t compute = is_f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  if (request.dtype == DType::kF32 && LosesDigits(request.precision)) {
    compute = request.precision == Precision::kFast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_FAST_16BF;
  }
  if (library.desc_create(&state_->desc, compute, is_f64 ? CUDA_R_64F : CUDA_R_32F) != CUBLAS_STATUS_SUCCESS) {
    throw Error(ErrorCode::kUnsupported, "cuBLASLt could not be started");
  }
  // Row-major C = A B^T (forward), A B (input gradient), A^T B (weight gradient); the library's first operand is B.
  const cublasOperation_t first = pass == Pass::kForward ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = pass == Pass::kWeightGradient ? CUBLAS_OP_T : CUBLAS_OP_N;
  if (library.desc_set(state_->desc, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)) != CUBLAS_STATUS_SUCCESS ||
      library.desc_set(state_->desc, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second)) != CUBLAS_STATUS_SUCCESS) {
    library.desc_destroy(state_->desc);
    throw Error(ErrorCode::kUnsupported, "cuBLASLt does not take the description of a product");
  }
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
}

namespace {

cublasLtEpilogue_t EpilogueOf(const LtResult& to) {
  if (to.bias == nullptr) {
    return to.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
  }
  return to.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
}

}  // namespace

// Tells the description what is wanted beside the product; a bias is by rows of the library's result.
bool LtProduct::State::Ask(const LtResult& to) const noexcept {
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    return TheLibrary().desc_set(desc, attribute, &value, sizeof(value)) == CUBLAS_STATUS_SUCCESS;
  };
  return set(CUBLASLT_MATMUL_DESC_EPILOGUE, EpilogueOf(to)) && set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, to.bias);
}

bool LtProduct::State::Make(Plan& plan, const ConstMatrixView& a, const ConstMatrixView& b,
                            const LtResult& to) noexcept {
  const Library& library = TheLibrary();
  const auto layout = [&](cublasLtMatrixLayout_t& made, DType type, int64_t rows, int64_t cols, int64_t stride) {
    return library.layout_create(&made, TypeOf(type), static_cast<uint64_t>(rows), static_cast<uint64_t>(cols),
                                 stride) == CUBLAS_STATUS_SUCCESS;
  };
  const int64_t rows = pass == Pass::kWeightGradient ? a.cols : a.rows;
  const int64_t cols = ProductCols(b);
  const DType result = OutputType(dtype);
  // A row-major matrix of r x c is a column-major one of c x r with the same stride.
  if (!layout(plan.first, dtype, b.cols, b.rows, b.stride) || !layout(plan.second, dtype, a.cols, a.rows, a.stride) ||
      !layout(plan.result, result, cols, rows, Stride(b, to))) {
    return false;
  }
  cublasLtMatmulPreference_t preference = nullptr;
  if (library.preference_create(&preference) != CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  bool taken = true;
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    taken = library.preference_set(preference, attribute, &value, sizeof(value)) == CUBLAS_STATUS_SUCCESS && taken;
  };
  const uint32_t aligned = AlignmentOf(to.data, Stride(b, to), result);
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(kWorkspace_bytes));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, AlignmentOf(b.data, b.stride, dtype));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, AlignmentOf(a.data, a.stride, dtype));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned);
  std::array<cublasLtMatmulHeuristicResult_t, kAlgorithms> found{};
  int count = 0;
  taken = taken && library.heuristic(shared->handle, desc, plan.first, plan.second, plan.result, plan.result,
                                     preference, kAlgorithms, found.data(), &count) == CUBLAS_STATUS_SUCCESS;
  library.preference_destroy(preference);
  const auto end = std::remove_if(found.begin(), found.begin() + (taken ? count : 0),
                                  [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
  if (end == found.begin()) {
    return false;
  }
  plan.algorithm = found[static_cast<size_t>(std::min<int64_t>(algorithm, end - found.begin() - 1))].algo;
  return true;
}

bool LtProduct::State::Start() noexcept {
  if (shared == nullptr) {
    try {
      shared = &SharedOf(device);
    } catch (const std::exception& error) {
      device.KeepError(error.what());
    }
  }
  return shared != nullptr;
}

LtProduct::State::Plan& LtProduct::State::PlanFor(const ConstMatrixView& a, const ConstMatrixView& b,
                                                  const LtResult& to) noexcept {
  const int64_t stride = Stride(b, to);
  const auto [at, is_new] = plans.try_emplace(Key{a.rows, a.cols, a.stride, AlignmentOf(a.data, a.stride, dtype),
                                                  b.rows, b.stride, AlignmentOf(b.data, b.stride, dtype), stride,
                                                  AlignmentOf(to.data, stride, OutputType(dtype)), EpilogueOf(to)});
  if (is_new) {
    at->second.ready = Make(at->second, a, b, to);
  }
  return at->second;
}

bool LtProduct::Run(const ConstMatrixView& a, const ConstMatrixView& b, const LtResult& to) noexcept {
  State& state = *state_;
  state.device.Use();
  if (!state.Start()) {
    return false;
  }
  const State::Plan* const plan = state.Ask(to) ? &state.PlanFor(a, b, to) : nullptr;
  if (plan == nullptr || !plan->ready) {
    if (to.is_bare()) {
      state.device.KeepError("cuBLASLt has no algorithm for a product of this size and type");
    }
    return false;
  }
  const auto multiply = [&](const auto one, const auto zero) {
    return TheLibrary().matmul(state.shared->handle, state.desc, &one, b.data, plan->first, a.data, plan->second, &zero,
                               to.data, plan->result, to.data, plan->result, &plan->algorithm, state.shared->workspace,
                               static_cast<size_t>(kWorkspace_bytes), static_cast<cudaStream_t>(state.device.stream()));
  };
  const cublasStatus_t status = state.dtype == DType::kF64 ? multiply(1.0, 0.0) : multiply(1.0F, 0.0F);
  if (status != CUBLAS_STATUS_SUCCESS) {
    state.device.KeepError(fmt::format("cuBLASLt product failed with status {}", static_cast<int>(status)));
  }
  return true;
}

}  // namespace lamina::cuda
