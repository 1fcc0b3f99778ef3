// Kernels that issue a synapse's instructions on registers, and copy memory.
#include "lamina/backend/cuda/limits.h"

#include <algorithm>

#include "lamina/backend/cuda/cublaslt.h"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/backend/cuda/packed.cuh"
#include "lamina/base/buffer.h"
#include "lamina/base/convert.h"
#include "lamina/base/random.h"
#include "lamina/base/timing.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr int kSide = 8;  // sums of a thread: 8 x 8, as in the tile
constexpr int kThreads = 256;
constexpr int kRuns = 5;

template <class Term>
struct PlainTerm {
  static constexpr int64_t kSynapses = 1;
  template <class T>
  __device__ static T Add(T a, T b, T sum) {
    return Term::Accumulate(a, b, sum);
  }
};

struct ByteTerm {
  static constexpr int64_t kSynapses = 4;
  __device__ static uint32_t Add(uint32_t a, uint32_t b, uint32_t sum) {
    return static_cast<uint32_t>(
        PackedTerm<formulas::AbsoluteDifferenceTerm, uint8_t>::Add(a, b, static_cast<int32_t>(sum)));
  }
};

template <class E>
struct PairTerm {
  static constexpr int64_t kSynapses = 2;
  __device__ static uint32_t Add(uint32_t a, uint32_t b, uint32_t sum) { return PairSum<E>::Add(a, b, sum); }
};

template <class Op, class T>
__global__ void __launch_bounds__(kThreads) IssueKernel(int64_t rounds, T* out) {
  T a[kSide];
  T b[kSide];
  T sums[kSide][kSide] = {};
  for (int i = 0; i < kSide; ++i) {
    a[i] = static_cast<T>(threadIdx.x + static_cast<unsigned>(i));
    b[i] = static_cast<T>(threadIdx.x * 3 + static_cast<unsigned>(i));
  }
#pragma unroll 1
  for (int64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      Opaque(a[i]);  // may be another one in every round: nothing is computed ahead
#pragma unroll
      for (int j = 0; j < kSide; ++j) {
        sums[i][j] = Op::Add(a[i], b[j], sums[i][j]);
      }
    }
  }
  T sum = T(0);
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      sum += sums[i][j];
    }
  }
  out[static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x] = sum;
}

constexpr int kCopied = 4;   // vectors that a thread loads before it stores the first
constexpr int kNumbers = 4;  // of f32 in one
constexpr int64_t kCopied_bytes = kCopied * kNumbers * static_cast<int64_t>(sizeof(float));  // by a thread at once

// `count` vectors, a multiple of kThreads * kCopied: as many bytes under way as fill the memory's latency.
__global__ void __launch_bounds__(kThreads) CopyKernel(const float* from, float* to, int64_t count) {
  const int64_t chunk = int64_t{kThreads} * kCopied;
  for (int64_t first = blockIdx.x * chunk; first < count; first += gridDim.x * chunk) {
    float values[kCopied][kNumbers];
#pragma unroll
    for (int i = 0; i < kCopied; ++i) {
      LoadShared<kNumbers>(values[i], from + (first + i * kThreads + static_cast<int>(threadIdx.x)) * kNumbers);
    }
#pragma unroll
    for (int i = 0; i < kCopied; ++i) {
      StoreGlobal(to + (first + i * kThreads + static_cast<int>(threadIdx.x)) * kNumbers, values[i]);
    }
  }
}

bool IsEmulated(const Device& device) { return device.facts().name == "emulated GPU"; }

// Seconds of one `work`, the best of some runs. It is asked for many times before each wait, as
// PassRun::SecondsPerCall() does for layers: a wait of some us would count here and not there.
template <class Work>
double BestSeconds(Device& device, const Work& work) {
  constexpr int64_t kMostTogether = 256;
  const double least_seconds = IsEmulated(device) ? 0 : 0.02;
  work();
  device.Synchronize();
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch watch;
    int64_t calls = 0;
    for (int64_t together = 1; calls == 0 || watch.Elapsed_seconds() < least_seconds;
         together = std::min(2 * together, kMostTogether)) {
      for (int64_t i = 0; i < together; ++i) {
        work();
      }
      device.Synchronize();
      calls += together;
    }
    best = std::min(best, watch.Elapsed_seconds() / static_cast<double>(calls));
  }
  return best;
}

template <class Op, class T>
double IssueRate(Device& device) {
  constexpr int64_t kRounds = 1 << 14;
  // Two blocks a multiprocessor: as many as the registers hold.
  const auto blocks = static_cast<unsigned>(std::max(1, 2 * device.facts().multiprocessors));
  const int64_t rounds = IsEmulated(device) ? 2 : kRounds;
  void* out = device.Allocate(int64_t{blocks} * kThreads * static_cast<int64_t>(sizeof(T)));
  const double seconds = BestSeconds(device, [&] {
    device.Launch("issue limit", &IssueKernel<Op, T>, dim3{blocks, 1, 1}, kThreads, 0, rounds, static_cast<T*>(out));
  });
  device.Free(out);
  return static_cast<double>(blocks) * kThreads * static_cast<double>(kSide * kSide * Op::kSynapses * rounds) / seconds;
}

}  // namespace

double MeasureSynapseLimit(Device& device, Synapse synapse, DType dtype, Precision precision) {
  const bool half = dtype == DType::kF16 || dtype == DType::kBF16;
  if (synapse == Synapse::kL1 && half && precision == Precision::kFast) {
    return dtype == DType::kF16 ? IssueRate<PairTerm<Float16>, uint32_t>(device)
                                : IssueRate<PairTerm<BFloat16>, uint32_t>(device);
  }
  if (synapse == Synapse::kL1 && (dtype == DType::kU8 || dtype == DType::kI8)) {
    return IssueRate<ByteTerm, uint32_t>(device);
  }
  if (IsInteger(dtype) || (synapse == Synapse::kDot && LosesDigits(precision))) {
    return 0;
  }
  double rate = 0;
  VisitSynapse(synapse, [&]<class F>(F) {
    using Op = PlainTerm<typename F::Term>;
    rate = dtype == DType::kF64 ? IssueRate<Op, double>(device) : IssueRate<Op, float>(device);
  });
  return rate;
}

double MeasureMemoryBandwidth(Device& device, int64_t size_bytes) {
  constexpr int64_t kMostEmulated_bytes = 1 << 20;
  size_bytes = IsEmulated(device) ? std::min(size_bytes, kMostEmulated_bytes) : size_bytes;
  const int64_t whole_bytes = std::max<int64_t>(1, size_bytes / (kThreads * kCopied_bytes)) * kThreads * kCopied_bytes;
  const int64_t count = whole_bytes / (kNumbers * static_cast<int64_t>(sizeof(float)));
  auto* from = static_cast<float*>(device.Allocate(whole_bytes));
  auto* to = static_cast<float*>(device.Allocate(whole_bytes));
  const auto blocks = static_cast<unsigned>(std::max(1, 8 * device.facts().multiprocessors));
  const double seconds = BestSeconds(device, [&] {
    device.Launch("copy", &CopyKernel, dim3{blocks, 1, 1}, kThreads, 0, from, to, count);
  });
  device.Free(from);
  device.Free(to);
  return 2.0 * static_cast<double>(whole_bytes) / seconds;
}

double MeasureLibraryProduct_seconds(Device& device, DType dtype, Precision precision, int64_t batch, int64_t outputs,
                                     int64_t inputs) {
  LayerPlanRequest request;
  request.layer = {inputs, outputs, Synapse::kDot, Activation("identity"), false};
  request.dtype = dtype;
  request.max_batch = batch;
  request.precision = precision;
  constexpr int64_t kMostEmulated = 1 << 20;  // synapses
  if (IsEmulated(device) && batch * outputs * inputs > kMostEmulated) {
    return 0;
  }
  if (!LtSupports({request.layer, Pass::kForward, batch, dtype, precision})) {
    return 0;
  }
  // Random, as the rate depends on the bits that change; a part of it over and over.
  const int64_t rows = std::max(batch, outputs);
  const int64_t rows_together = std::min<int64_t>(rows, 256);
  Matrix wide(rows_together, inputs, DType::kF64);
  Random random(1);
  for (double* at = wide.Row<double>(0); at != wide.Row<double>(0) + rows_together * inputs; ++at) {
    *at = random.Uniform(-1, 1);
  }
  Matrix some(rows_together, inputs, dtype);
  ConvertMatrix(wide.view(), some.view());
  const int64_t row_bytes = inputs * DTypeSize_bytes(dtype);
  auto* operand = static_cast<char*>(device.Allocate(rows * row_bytes));
  for (int64_t row = 0; row < rows; row += rows_together) {
    device.Upload(operand + row * row_bytes, some.data(), std::min(rows_together, rows - row) * row_bytes);
  }
  void* product = device.Allocate(batch * outputs * DTypeSize_bytes(OutputType(dtype)));
  LtProduct library(device, request, Pass::kForward, 0);
  const ConstMatrixView x{operand, batch, inputs, inputs, dtype, Space::kDevice};
  const ConstMatrixView weights{operand, outputs, inputs, inputs, dtype, Space::kDevice};
  const double seconds = BestSeconds(device, [&] { library.Run(x, weights, {product}); });
  device.Free(product);
  device.Free(operand);
  return seconds;
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
