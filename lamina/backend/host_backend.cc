// Memory, gathering, the loss and clipped updates for every CPU backend.
#include "lamina/backend/host_backend.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

#include "lamina/backend/requirements.h"
#include "lamina/base/buffer.h"

namespace lamina {
namespace {

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(int64_t size_bytes) : buffer_(size_bytes) {}
  void* data() const override { return buffer_.data(); }
  int64_t size_bytes() const override { return buffer_.size_bytes(); }

 private:
  AlignedBuffer buffer_;
};

// Whether the sample counts as correctly classified; see LossSums.
template <class T>
bool IsCorrect(const T* a, const T* y, int64_t outputs, T threshold) {
  if (outputs == 1) {
    return (a[0] > threshold) == (y[0] > threshold);
  }
  return std::max_element(a, a + outputs) - a == std::max_element(y, y + outputs) - y;
}

// Loss::Smooth() in T.
template <class T>
struct Smoothed {
  explicit Smoothed(const LossArgs& args) {
    const Loss::Smoothed smoothed = args.loss.Smooth(args.label_smoothing, args.a.cols);
    keep = static_cast<T>(smoothed.keep);
    even = static_cast<T>(smoothed.even);
  }
  T operator()(T y) const { return keep * y + even; }
  T keep, even;
};

// delta for one sample: the loss's gradient times the slope of the output activation.
template <class T, class L>
void SampleDelta(const L& loss, const LossArgs& args, const Smoothed<T>& smoothed, int64_t i, T scale) {
  const int64_t outputs = args.a.cols;
  const T* a = args.a.Row<T>(i);
  const T* y = args.targets.Row<T>(i);
  T* delta = args.delta.Row<T>(i);
  for (int64_t j = 0; j < outputs; ++j) {
    delta[j] = scale * formulas::LossGradient(loss, a[j], smoothed(y[j]), j);
  }
  if constexpr (!L::kByOutput) {
    return;
  }
  if (args.activation->is_softmax()) {
    T dot = 0;
    for (int64_t j = 0; j < outputs; ++j) {
      dot += delta[j] * a[j];
    }
    for (int64_t j = 0; j < outputs; ++j) {
      delta[j] = a[j] * (delta[j] - dot);
    }
  } else {
    args.activation->MultiplySlope(args.z.empty() ? nullptr : args.z.Row<T>(i), a, delta, outputs);
  }
}

// Most targets of classes are 0: they add nothing, and a logarithm takes as long as all else.
template <class T, class L>
bool AddsNothing(T target) {
  return std::is_same_v<L, formulas::CrossEntropy> && target == 0;
}

template <class T, class L>
LossSums LossLoop(const L& formula, const LossArgs& args, int64_t begin, int64_t end) {
  const int64_t outputs = args.a.cols;
  const T mean = T(1) / static_cast<T>(std::max<int64_t>(1, args.a.rows));
  const auto* weights = static_cast<const T*>(args.sample_weights);
  const Smoothed<T> smoothed(args);
  LossSums sums;
  sums.samples = end - begin;
  for (int64_t i = begin; i < end; ++i) {
    const T* a = args.a.Row<T>(i);
    const T* y = args.targets.Row<T>(i);
    const T weight = weights == nullptr ? T(1) : weights[i];
    double loss = 0;
    for (int64_t j = 0; j < outputs; ++j) {
      const T target = smoothed(y[j]);
      loss += AddsNothing<T, L>(target) ? T(0) : formulas::LossValue(formula, a[j], target, j);
    }
    sums.loss += weight * loss;
    sums.weight += weight;
    sums.correct += IsCorrect(a, y, outputs, static_cast<T>(args.class_threshold)) ? 1 : 0;
    if (!args.delta.empty()) {
      SampleDelta<T>(formula, args, smoothed, i, weight * mean);
    }
  }
  return sums;
}

constexpr int64_t kGatherAhead = 2;  // shuffled rows come from memory: 128 of 3 KB in 57 us instead of 70

// In eight sums, which the processor adds at once.
template <class T>
double SumOfSquares(const T* values, int64_t begin, int64_t end) {
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  int64_t i = begin;
  for (; i + kSums <= end; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) {
      const auto value = static_cast<double>(values[i + j]);
      sums[j] += value * value;
    }
  }
  for (; i < end; ++i) {
    const auto value = static_cast<double>(values[i]);
    sums[0] += value * value;
  }
  return std::accumulate(std::begin(sums), std::end(sums), 0.0);
}

}  // namespace

Verdict HostBackend::Supports(const Problem& problem) const {
  if (problem.precision == Precision::kBFloat16) {
    return Verdict::No(fmt::format("backend {} has no products of bf16 operands", name()));
  }
  const Verdict verdict = CheckDType(problem);
  return verdict ? ExactInPlaceOf(problem.precision) : verdict;
}

std::unique_ptr<Buffer> AllocateOnHost(int64_t size_bytes) { return std::make_unique<HostBuffer>(size_bytes); }

std::unique_ptr<Buffer> HostBackend::Allocate(int64_t size_bytes) const { return AllocateOnHost(size_bytes); }

void HostBackend::Upload(void* to, const void* host, int64_t size_bytes) const {
  if (size_bytes > 0) {
    std::memcpy(to, host, static_cast<size_t>(size_bytes));
  }
}

void HostBackend::Download(void* host, const void* from, int64_t size_bytes) const { Upload(host, from, size_bytes); }

void HostBackend::GatherRows(ConstMatrixView from, const int64_t* rows, int64_t count, MatrixView to) const noexcept {
  const int64_t element = DTypeSize_bytes(from.dtype);
  const auto* source = static_cast<const char*>(from.data);
  auto* target = static_cast<char*>(to.data);
  const auto row_bytes = static_cast<size_t>(from.cols * element);
  parts_.ForParts(count, count * from.cols, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i + kGatherAhead < end) {
        const char* next = source + rows[i + kGatherAhead] * from.stride * element;
        for (size_t at = 0; at < row_bytes; at += 64) {
          __builtin_prefetch(next + at);
        }
      }
      std::memcpy(target + i * to.stride * element, source + rows[i] * from.stride * element, row_bytes);
    }
  });
}

void HostBackend::ComputeLoss(const LossArgs& args) const noexcept { ComputeLossOnHost(args); }

void HostBackend::ClipGradient(const ClipArgs& args) const noexcept {
  DispatchFloat(args.dtype, [&]<class T>(T) {
    T* const gradient = static_cast<T*>(args.gradient);
    parts_.ForParts(ClipArgs::kParts, args.count, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        args.parts[part] =
            SumOfSquares(gradient, args.count * part / ClipArgs::kParts, args.count * (part + 1) / ClipArgs::kParts);
      }
    });
    const double norm = std::sqrt(std::accumulate(args.parts, args.parts + ClipArgs::kParts, 0.0));
    if (!std::isfinite(norm) || norm <= args.norm) {
      return;
    }
    const T scale = static_cast<T>(args.norm / norm);
    parts_.ForParts(args.count, args.count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        gradient[i] *= scale;
      }
    });
  });
}

void HostBackend::Update(const UpdateArgs& args) const noexcept {
  DispatchFloat(args.dtype, [&]<class T>(T) {
    UpdateInPieces<T>(
        args, [&](int64_t begin, int64_t end) { UpdateArrays<T>(*args.rule, args.decay, args.arrays, begin, end); });
  });
}

void ComputeLossOnHost(const LossArgs& args) noexcept {
  const LossSums sums = ComputeLossOfSamples(args, 0, args.a.rows);
  args.sums->loss += sums.loss;
  args.sums->weight += sums.weight;
  args.sums->correct += sums.correct;
  args.sums->samples += sums.samples;
}

LossSums ComputeLossOfSamples(const LossArgs& args, int64_t begin, int64_t end) noexcept {
  LossSums sums;
  DispatchFloat(args.a.dtype, [&]<class T>(T) {
    args.loss.Visit([&]<class L>(const L& formula) { sums = LossLoop<T>(formula, args, begin, end); });
  });
  return sums;
}

int ResolveThreads(int threads) { return threads > 0 ? threads : UsableCores(); }

}  // namespace lamina
