// Backend "blas": each pass is one CBLAS product; bias, activation and slopes are passes of their own. Plain
// SGD goes into the product itself where a batch is short: weights = (1 - eta lambda) weights - eta delta^T x.
#include "lamina/backend/blas/blas_backend.h"

#include "lamina/backend/host_backend.h"
#include "lamina/backend/requirements.h"

#ifdef LAMINA_HAVE_BLAS
#include <fmt/format.h>

#include <limits>
#include <vector>

#include "lamina/backend/blas/cblas_library.h"
#include "lamina/backend/serial/plain_loops.h"
#include "lamina/base/buffer.h"
#endif

namespace lamina {

#ifndef LAMINA_HAVE_BLAS

Verdict BlasAvailable() { return Verdict::No("this lamina was built without CBLAS (LAMINA_BLAS=OFF or not found)"); }

std::unique_ptr<Backend> MakeBlasBackend(const BackendOptions&) {
  throw Error(ErrorCode::kUnsupported, BlasAvailable().reason);
}

std::string BlasDescription() { return ""; }

#else

namespace {

// A library adds long sums in parts, and would round each part to the weights that it is added to.
constexpr int64_t kFusedRows = 256;

int Leading(int64_t stride) { return static_cast<int>(std::max<int64_t>(1, stride)); }

/// c (m × n) = alpha op(a) op(b) + beta c; k is the common length. A dimension of a product by its views'
/// strides.
struct Product {
  CBLAS_TRANSPOSE transpose_a, transpose_b;
  int64_t m, n, k;
};

void Gemm(const Product& p, float alpha, ConstMatrixView a, ConstMatrixView b, float beta, MatrixView c) {
  TheCblas().sgemm(CblasRowMajor, p.transpose_a, p.transpose_b, static_cast<int>(p.m), static_cast<int>(p.n),
                   static_cast<int>(p.k), alpha, static_cast<const float*>(a.data), Leading(a.stride),
                   static_cast<const float*>(b.data), Leading(b.stride), beta, static_cast<float*>(c.data),
                   Leading(c.stride));
}

void Gemm(const Product& p, double alpha, ConstMatrixView a, ConstMatrixView b, double beta, MatrixView c) {
  TheCblas().dgemm(CblasRowMajor, p.transpose_a, p.transpose_b, static_cast<int>(p.m), static_cast<int>(p.n),
                   static_cast<int>(p.k), alpha, static_cast<const double*>(a.data), Leading(a.stride),
                   static_cast<const double*>(b.data), Leading(b.stride), beta, static_cast<double*>(c.data),
                   Leading(c.stride));
}

// Whether a rule is one product: weights less a share of the gradient.
bool IsPlain(const UpdateRule* rule) {
  return rule != nullptr && rule->kind == UpdateKind::kSgd && rule->StateCount() == 0;
}

template <class T>
class BlasLayer final : public PreparedLayer {
 public:
  BlasLayer(const LayerPlanRequest& request, const HostParts& parts)
      : request_(request),
        parts_(parts),
        sums_(request.training && request.max_batch > kFusedRows
                  ? static_cast<size_t>(request.layer.outputs * request.layer.inputs)
                  : 0) {}

  void Forward(const ForwardArgs& args) noexcept override {
    const MatrixView z = args.z.empty() ? args.a : args.z;
    const CblasThreads scope(parts_.threads);
    Gemm({CblasNoTrans, CblasTrans, z.rows, z.cols, args.x.cols}, T(1), args.x, args.weights, T(0), z);
    const auto* bias = static_cast<const T*>(args.bias);
    parts_.ForParts(z.rows, z.rows * z.cols, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = z.Row<T>(i);
        for (int64_t j = 0; bias != nullptr && j < z.cols; ++j) {
          row[j] += bias[j];
        }
        request_.layer.activation.Value(row, args.a.Row<T>(i), z.cols);
      }
    });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    const CblasThreads scope(parts_.threads);
    const MatrixView& out = args.out;
    Gemm({CblasNoTrans, CblasNoTrans, out.rows, out.cols, args.delta.cols}, T(1), args.delta, args.weights, T(0), out);
    if (args.previous == nullptr) {
      return;
    }
    parts_.ForParts(out.rows, out.rows * out.cols, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        args.previous->MultiplySlope(args.previous_z.empty() ? nullptr : args.previous_z.Row<T>(i), args.x.Row<T>(i),
                                     out.Row<T>(i), out.cols);
      }
    });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    const CblasThreads scope(parts_.threads);
    const bool plain = IsPlain(args.rule);
    const bool fused = plain && args.x.rows <= kFusedRows;
    const T eta = fused ? static_cast<T>(args.rule->learning_rate) : T(-1);
    const T keep = fused ? T(1) - eta * static_cast<T>(args.rule->weight_decay) : T(0);
    const int64_t outputs = args.delta.cols;
    const int64_t inputs = args.x.cols;
    ParameterArrays weights = args.weights;
    if (plain && !fused) {
      weights.gradient = sums_.data();
    }
    const MatrixView to = ViewOf(static_cast<T*>(fused ? weights.value : weights.gradient), outputs, inputs);
    Gemm({CblasTrans, CblasNoTrans, outputs, inputs, args.x.rows}, -eta, args.delta, args.x, keep, to);
    if (T* bias = static_cast<T*>(plain ? args.bias.value : args.bias.gradient); bias != nullptr) {
      AddColumnSums(args.delta, plain ? -static_cast<T>(args.rule->learning_rate) : T(1), plain ? T(1) : T(0), bias);
    }
    if (args.rule == nullptr || fused) {
      return;
    }
    parts_.ForParts(outputs * inputs, outputs * inputs,
                    [&](int64_t begin, int64_t end) { UpdateArrays<T>(*args.rule, true, weights, begin, end); });
    if (args.bias.value != nullptr && !plain) {
      UpdateArrays<T>(*args.rule, false, args.bias, 0, outputs);
    }
  }

  std::string Describe() const override { return fmt::format("blas: gemm, {} threads", parts_.threads); }

 private:
  // to = keep to + scale (sums of the columns of delta).
  static void AddColumnSums(ConstMatrixView delta, T scale, T keep, T* to) {
    for (int64_t j = 0; j < delta.cols; ++j) {
      to[j] = keep == T(0) ? T(0) : keep * to[j];
    }
    for (int64_t i = 0; i < delta.rows; ++i) {
      const T* row = delta.Row<T>(i);
      for (int64_t j = 0; j < delta.cols; ++j) {
        to[j] += scale * row[j];
      }
    }
  }

  LayerPlanRequest request_;
  HostParts parts_;
  std::vector<T> sums_;  // outputs × inputs: gradients of long batches
};

class BlasBackend final : public HostBackend {
 public:
  explicit BlasBackend(int threads) : HostBackend(threads, CblasRegions()) {}
  std::string_view name() const override { return "blas"; }
  std::string Describe() const override { return fmt::format("blas: {}, {} threads", BlasDescription(), threads()); }

  Verdict Supports(const Problem& problem) const override {
    if (IsDistance(problem.layer.synapse)) {
      return Verdict::No(fmt::format(
          "backend blas computes dot layers: there is no matrix product in the distances of {}; use cpu, threads or "
          "serial",
          SynapseName(problem.layer.synapse)));
    }
    if (problem.dtype != DType::kF32 && problem.dtype != DType::kF64) {
      return Verdict::No(
          fmt::format("CBLAS multiplies f32 and f64, not {}; use cpu, threads or serial", DTypeName(problem.dtype)));
    }
    constexpr int64_t kMost = std::numeric_limits<int>::max();
    if (problem.layer.inputs > kMost || problem.layer.outputs > kMost || problem.batch > kMost) {
      return Verdict::No("backend blas counts rows and columns in 32 bits");
    }
    return HostBackend::Supports(problem);
  }

  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    RequireSupport(*this, request);
    if (request.any_slicing) {
      throw Error(
          ErrorCode::kUnsupported,
          "backend blas cannot promise the same bits for every slicing: a CBLAS chooses the order of its sums by "
          "the shape; use cpu, threads or serial");
    }
    return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<PreparedLayer> {
      return std::make_unique<BlasLayer<T> >(request, parts());
    });
  }
};

}  // namespace

Verdict BlasAvailable() {
  const std::string& reason = TheCblas().reason;
  return reason.empty() ? Verdict::Yes() : Verdict::No(reason);
}

std::unique_ptr<Backend> MakeBlasBackend(const BackendOptions& options) {
  if (const Verdict available = BlasAvailable(); !available) {
    throw Error(ErrorCode::kUnsupported, available.reason);
  }
  return std::make_unique<BlasBackend>(ResolveThreads(options.threads));
}

std::string BlasDescription() {
  const CblasLibrary& library = TheCblas();
  if (library.config == nullptr || library.core_name == nullptr) {
    return "CBLAS";
  }
  // "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY ...": the first two words.
  const std::string config = library.config();
  const size_t end = config.find(' ', config.find(' ') + 1);
  return fmt::format("{} ({} kernels)", config.substr(0, end), library.core_name());
}

#endif

}  // namespace lamina
