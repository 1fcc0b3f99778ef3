// Sizes of slices.
#include "lamina/layer/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

// A register tile of the vector kernels: smaller slices waste it.
constexpr int64_t kLeastSamples = 48;
constexpr int64_t kLeastNeurons = 16;

// value, at least `least`, at most `most`.
int64_t Within(double value, int64_t least, int64_t most) {
  const double bounded = std::clamp(value, static_cast<double>(least), 0x1p62);
  return std::min(static_cast<int64_t>(bounded), most);
}

struct Slicer {
  const LayerSpec& layer;
  int64_t batch;
  DType dtype;
  const SliceOptions& options;

  // The slice for M.
  SlicePlan For(double m) const {
    SlicePlan plan{batch, layer.outputs, options.samples, options.neurons, 0};
    if (plan.samples == 0) {
      plan.samples = Within(m * options.asymmetry, kLeastSamples, batch);
    }
    if (layer.activation.is_softmax()) {
      plan.neurons = layer.outputs;
    } else if (plan.neurons == 0) {
      plan.neurons = Within(m / options.asymmetry, kLeastNeurons, layer.outputs);
    }
    plan.samples = std::min(plan.samples, batch);
    plan.neurons = std::min(plan.neurons, layer.outputs);
    plan.slice_bytes = SliceBytes(layer, dtype, plan.samples, plan.neurons);
    return plan;
  }

  bool Fits(const SlicePlan& plan) const { return plan.slice_bytes <= options.budget_bytes - options.reserved_bytes; }
};

void CheckOptions(const LayerSpec& layer, int64_t batch, const SliceOptions& options) {
  if (batch < 1 || layer.outputs < 1 || layer.inputs < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a layer of {} neurons on {} inputs for {} samples", layer.outputs, layer.inputs, batch));
  }
  if (!(options.asymmetry > 0) || !std::isfinite(options.asymmetry)) {
    throw Error(ErrorCode::kInvalidArgument, "the asymmetry of slices must be a positive number",
                {.value = fmt::format("{}", options.asymmetry)});
  }
  if (options.samples < 0 || options.neurons < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a slice of {} samples and {} neurons", options.samples, options.neurons));
  }
  if (layer.activation.is_softmax() && options.neurons != 0 && options.neurons < layer.outputs) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("softmax needs all {} neurons of a sample in one slice, not {}", layer.outputs, options.neurons),
        {.remedy = "Cut the samples only."});
  }
}

}  // namespace

int64_t SliceBytes(const LayerSpec& layer, DType dtype, int64_t samples, int64_t neurons) {
  bool overflow = false;
  const auto times = [&overflow](int64_t a, int64_t b, int64_t element_bytes) {
    int64_t product = 0;
    overflow = __builtin_mul_overflow(a, b, &product) || overflow;
    overflow = __builtin_mul_overflow(product, element_bytes, &product) || overflow;
    return product;
  };
  const int64_t in_bytes = DTypeSize_bytes(dtype);
  int64_t sum = times(layer.inputs, neurons, in_bytes);
  overflow = __builtin_add_overflow(sum, times(samples, layer.inputs, in_bytes), &sum) || overflow;
  overflow = __builtin_add_overflow(sum, times(samples, neurons, DTypeSize_bytes(OutputType(dtype))), &sum) || overflow;
  return overflow ? std::numeric_limits<int64_t>::max() : sum;
}

SlicePlan PlanSlices(const LayerSpec& layer, int64_t batch, DType dtype, const SliceOptions& options) {
  CheckOptions(layer, batch, options);
  const Slicer slicer{layer, batch, dtype, options};
  SlicePlan best = slicer.For(1);
  if (!slicer.Fits(best)) {
    const int64_t least_bytes = best.slice_bytes > std::numeric_limits<int64_t>::max() - options.reserved_bytes
                                    ? std::numeric_limits<int64_t>::max()
                                    : best.slice_bytes + options.reserved_bytes;
    throw Error(ErrorCode::kResource,
                fmt::format("a memory budget of {} bytes is too small for a slice of {} samples x {} neurons with {} "
                            "inputs: at least {} bytes ({}) are needed",
                            WithThousands(options.budget_bytes), best.samples, best.neurons, layer.inputs,
                            WithThousands(least_bytes), BytesText(least_bytes)));
  }
  for (double m = 2; best.samples < batch || best.neurons < layer.outputs; m *= 2) {
    const SlicePlan plan = slicer.For(m);
    if (!slicer.Fits(plan) || m > 0x1p62) {
      break;
    }
    best = plan;
  }
  return best;
}

int64_t DefaultBudget_bytes() { return QueryHardware().UsableMemory_bytes() / 4 * 3; }

}  // namespace lamina
