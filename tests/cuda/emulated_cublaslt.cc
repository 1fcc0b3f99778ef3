// A stand-in for cuBLASLt with the same results, so that the path around the library runs without it.
#include "lamina/backend/cuda/cublaslt.h"

#include "lamina/base/convert.h"

namespace lamina::cuda_emulated {

Verdict LtAvailable() { return Verdict::Yes(); }
std::string LtVersion() { return "emulated"; }
Verdict LtSupports(const Problem& problem) {
  return problem.layer.synapse == Synapse::kDot && !IsInteger(problem.dtype) ? Verdict::Yes()
                                                                             : Verdict::No("not emulated");
}

struct LtProduct::State {
  Device& device;
  Pass pass;
  bool rounds;  // operands to bf16
};

LtProduct::LtProduct(Device& device, const LayerPlanRequest& request, Pass pass, int)
    : state_(std::make_unique<State>(State{device, pass, request.precision == Precision::kBFloat16})) {}
LtProduct::~LtProduct() = default;

namespace {

template <class E>
__global__ void PlainProductKernel(ConstMatrixView a, ConstMatrixView b, Pass pass, bool rounds, int64_t rows,
                                   int64_t cols, int64_t depth, LtResult to) {
  using T = std::conditional_t<std::is_same_v<E, double>, double, float>;
  const int64_t n = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= rows * cols) {
    return;
  }
  const auto at = [rounds](const ConstMatrixView& m, int64_t i, int64_t j) {
    const auto value = static_cast<T>(AsNumber(static_cast<const E*>(m.data)[i * m.stride + j]));
    return rounds ? static_cast<T>(static_cast<float>(BFloat16(static_cast<float>(value)))) : value;
  };
  const int64_t i = n / cols;
  const int64_t j = n % cols;
  T sum = 0;
  for (int64_t k = 0; k < depth; ++k) {
    sum += (pass == Pass::kWeightGradient ? at(a, k, i) : at(a, i, k)) *
           (pass == Pass::kForward ? at(b, j, k) : at(b, k, j));
  }
  if (to.bias != nullptr) {
    sum += static_cast<const T*>(to.bias)[j];
  }
  if (to.relu) {
    sum = sum < T(0) ? T(0) : sum;
  }
  static_cast<T*>(to.data)[i * (to.stride > 0 ? to.stride : cols) + j] = sum;
}

}  // namespace

bool LtProduct::Run(const ConstMatrixView& a, const ConstMatrixView& b, const LtResult& to) noexcept {
  const Pass pass = state_->pass;
  const int64_t rows = pass == Pass::kWeightGradient ? a.cols : a.rows;
  const int64_t cols = pass == Pass::kForward ? b.rows : b.cols;
  const int64_t depth = pass == Pass::kWeightGradient ? a.rows : a.cols;
  DispatchDType(a.dtype, [&]<class E>(E) {
    if constexpr (!std::is_integral_v<E>) {
      state_->device.Launch("plain product", &PlainProductKernel<E>,
                            dim3{static_cast<unsigned>((rows * cols + 63) / 64), 1, 1}, 64, 0, a, b, pass,
                            state_->rounds, rows, cols, depth, to);
    }
  });
  return true;
}

}  // namespace lamina::cuda_emulated
