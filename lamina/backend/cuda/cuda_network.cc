// Shares a small network out over the multiprocessors and gives everything in a block its place in shared memory.
#include "lamina/backend/cuda/cuda_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "lamina/backend/cuda/cuda_plan.h"
#include "lamina/backend/cuda/network.h"
#include "lamina/backend/cuda/whole_batch.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr int64_t kVector = 4;                     // elements of 16 bytes
constexpr int64_t kNeuronStep = kNeuronsTogether;  // neurons of a block: a thread has the sums of so many anyway
constexpr int64_t kMostWorkAlone = 32768;  // multiply-adds of a forward pass for which one block is not worth meeting
constexpr int64_t kRowsOfParts = 16;       // rows from which on their gradient is worth two parts
constexpr int64_t kMostStepsTogether = 4096;
constexpr int64_t kStepsBetweenQuestions = 1024;  // whether to stop: some milliseconds

constexpr size_t kCounters = 2;
constexpr int64_t kCounter_bytes = kCounters * sizeof(unsigned);

int64_t RoundUp(int64_t a, int64_t b) { return CeilDivide(a, b) * b; }

// Whether the kernel computes such networks at all.
Verdict Computes(const NetworkPlanRequest& request) {
  if (request.dtype != DType::kF32) {
    return Verdict::No("the GPU computes small networks as a whole in f32 only");
  }
  const bool rounds = request.precision == Precision::kBFloat16;
  if (LosesDigits(request.precision) && !(rounds && request.layers.front().synapse == Synapse::kDot)) {
    return Verdict::No("the GPU computes operands of lower precision layer by layer, but for rows in bf16");
  }
  const auto count = static_cast<int64_t>(request.layers.size());
  if (count < 2 || count > kMostNetworkLayers) {
    return Verdict::No(fmt::format("the GPU computes networks of 2 to {} layers as a whole", kMostNetworkLayers));
  }
  if (request.max_batch > kMostNetworkBatch) {
    return Verdict::No(fmt::format("{} samples a step are enough work for launches layer by layer (up to {} are not)",
                                   request.max_batch, kMostNetworkBatch));
  }
  for (size_t l = 0; l < request.layers.size(); ++l) {
    const LayerSpec& spec = request.layers[l];
    if (spec.trained_radius) {
      return Verdict::No("trained radii are computed layer by layer");
    }
    if (spec.activation.kind() == Activation::kCustom) {
      return Verdict::No("an activation of one's own is computed layer by layer");
    }
    if (spec.activation.is_softmax() && l + 1 < request.layers.size()) {
      return Verdict::No("softmax below the last layer is computed layer by layer");
    }
    if (l > 0 && spec.synapse != Synapse::kDot) {
      return Verdict::No("distances above the first layer are computed layer by layer");
    }
    if (l > 0 && spec.outputs > kWarp) {
      return Verdict::No(
          fmt::format("a layer of {} outputs above the first one is computed layer by layer (up to {} "
                      "are not)",
                      spec.outputs, kWarp));
    }
  }
  return Verdict::Yes();
}

// Everything of a block in its place, for `neurons` of the first layer a block; returns the elements taken.
int64_t Place(const NetworkPlanRequest& request, int64_t neurons, int64_t most_elements, NetworkArgs<float>& args) {
  int64_t used = 0;
  const auto take = [&](int64_t count) {
    const int64_t at = used;
    used += RoundUp(count, kVector);
    return static_cast<int>(at);
  };
  const auto take_array = [&](const ParameterArrays& arrays, int64_t count) {
    NetworkArray<float> array;
    array.value = static_cast<float*>(arrays.value);
    if (array.value == nullptr) {
      return array;
    }
    array.at = take(count);
    for (int i = 0; i < request.state_count; ++i) {
      array.state[i] = static_cast<float*>(arrays.state[i]);
      array.state_at[i] = take(count);
    }
    return array;
  };
  const int64_t batch = request.max_batch;
  const int64_t padded = RoundUp(neurons, kNeuronsTogether);
  args.layer_count = static_cast<int>(request.layers.size());
  args.neurons = static_cast<int>(neurons);
  for (size_t l = 0; l < request.layers.size(); ++l) {
    const LayerSpec& spec = request.layers[l];
    NetworkLayer<float>& layer = args.layers[l];
    layer.inputs = static_cast<int>(spec.inputs);
    layer.outputs = static_cast<int>(spec.outputs);
    layer.weight_stride = static_cast<int>(l == 1 ? padded : RoundUp(spec.inputs, kVector));
    layer.stride = static_cast<int>(l == 0 ? padded : spec.outputs);
    layer.activation = ToDevice(spec.activation);
    layer.weights =
        take_array(request.arrays[l].weights, int64_t{l == 0 ? layer.stride : layer.outputs} * layer.weight_stride);
    layer.bias = take_array(request.arrays[l].bias, layer.stride);
    const int64_t values = batch * layer.stride;
    layer.a = take(values);
    layer.delta = take(values);
    layer.z = spec.activation.slope_needs_input() ? take(values) : -1;
    layer.distance = SynapseNeedsDistance(spec.synapse) ? take(values) : -1;
    layer.scaled = SynapseScalesDelta(spec.synapse) ? take(values) : -1;
  }
  args.targets = take(batch * request.layers.back().outputs);
  args.sample_weights_at = take(batch);
  const int64_t vectors = CeilDivide(request.layers.front().inputs, kVector);
  args.gradient_parts = 1;
  int64_t parts = 0;
  if (vectors * kMostGradientParts <= kNetworkThreads && batch >= kRowsOfParts) {
    args.gradient_parts = kMostGradientParts;
    parts = kNetworkThreads / kMostGradientParts * kNeuronsTogether * kVector;
  }
  if (neurons > kNeuronsTogether) {  // the rows kept are read again after the first parts
    args.parts = take(parts);
    parts = 0;
  }
  args.kept = static_cast<int>(used);
  args.parts = parts > 0 ? args.kept : args.parts;
  args.rounded = request.precision == Precision::kBFloat16;
  const int64_t row = args.layers[0].weight_stride / (args.rounded ? 2 : 1);
  args.kept_rows = static_cast<int>(std::clamp<int64_t>((most_elements - used) / std::max<int64_t>(1, row), 0, batch));
  return used + std::max(args.kept_rows * row, parts);
}

// A network over the multiprocessors.
struct Share {
  NetworkArgs<float> args;
  int blocks = 0;
  int64_t shared_bytes = 0;  // of each
};

// Null where the kernel does not suit, `why` then holds the reason.
std::optional<Share> ShareOut(const NetworkPlanRequest& request, Device& device, Verdict* why) {
  *why = Computes(request);
  if (!*why) {
    return std::nullopt;
  }
  const LayerSpec& first = request.layers.front();
  const int64_t most_bytes = device.facts().shared_bytes - kNetworkHead_bytes;
  const int64_t most_elements = most_bytes / static_cast<int64_t>(sizeof(float));
  const int64_t multiprocessors = std::max(1, device.facts().multiprocessors);
  const int64_t shared_out = RoundUp(CeilDivide(first.outputs, multiprocessors), kNeuronStep);
  const bool alone = first.weight_count() * request.max_batch <= kMostWorkAlone;
  for (const int64_t neurons : {alone ? first.outputs : shared_out, shared_out}) {
    Share share;
    const int64_t elements = Place(request, neurons, most_elements, share.args);
    if (elements <= most_elements) {
      share.blocks = static_cast<int>(CeilDivide(first.outputs, neurons));
      share.shared_bytes = kNetworkHead_bytes + elements * static_cast<int64_t>(sizeof(float));
      *why = MayLaunchNetwork(device, first.synapse, share.blocks, share.shared_bytes, share.args.rounded);
      return *why ? std::optional(share) : std::nullopt;
    }
    *why = Verdict::No(fmt::format("{} KiB a block are more than the {} KiB of shared memory that it can have",
                                   elements * static_cast<int64_t>(sizeof(float)) / 1024, most_bytes / 1024));
  }
  return std::nullopt;
}

class CudaNetwork final : public PreparedNetwork {
 public:
  CudaNetwork(const NetworkPlanRequest& request, const std::shared_ptr<Device>& device, const NetworkArgs<float>& args,
              int blocks, int64_t shared_bytes)
      : device_(device),
        args_(args),
        synapse_(request.layers.front().synapse),
        blocks_(blocks),
        shared_bytes_(shared_bytes) {
    const LayerSpec& last = request.layers.back();
    max_batch_ = request.max_batch;
    args_.slot_size = static_cast<int>(RoundUp(max_batch_ * request.layers[1].outputs, kVector));
    args_.loss = ToDevice(request.loss);
    args_.softmax = last.activation.is_softmax();
    args_.multiply_slope = request.loss.by_output();
    args_.class_threshold = request.class_threshold;
    const Loss::Smoothed smoothed = request.loss.Smooth(request.label_smoothing, last.outputs);
    args_.keep = static_cast<float>(smoothed.keep);
    args_.even = static_cast<float>(smoothed.even);
    args_.counters = static_cast<unsigned*>(Take(kCounter_bytes));
    args_.slots =
        static_cast<float*>(Take(int64_t{blocks + 1} * args_.slot_size * static_cast<int64_t>(sizeof(float))));
    args_.progress = static_cast<NetworkProgress*>(Take(sizeof(NetworkProgress)));
    numbers_ = static_cast<UpdateNumbers<float>*>(Take(kMostStepsTogether * static_cast<int64_t>(sizeof(*numbers_))));
    args_.numbers = numbers_;
  }
  ~CudaNetwork() override {
    for (void* memory : taken_) {
      device_->Free(memory);
    }
  }
  CudaNetwork(const CudaNetwork&) = delete;
  CudaNetwork& operator=(const CudaNetwork&) = delete;

  int64_t Run(const TrainingSteps& work) override {
    NetworkArgs<float> args = args_;
    args.x = RowsOf<float>(work.x);
    args.vectors = reinterpret_cast<uintptr_t>(work.x.data) % 16 == 0 && work.x.stride % kVector == 0 &&
                   work.x.cols % kVector == 0;
    args.target_rows = RowsOf<float>(work.targets);
    args.sample_weights = static_cast<const float*>(work.sample_weights);
    args.order = work.order;
    args.end = work.end;
    args.batch = static_cast<int>(work.batch);
    args.rule = work.rule;
    args.sums = work.sums;
    const bool asks = work.stop_requested != nullptr && *work.stop_requested;
    const int64_t steps = work.count();
    int64_t done = 0;
    while (done < steps) {
      const int64_t together = std::min(steps - done, asks ? kStepsBetweenQuestions : kMostStepsTogether);
      args.begin = work.begin + done * work.batch;
      args.steps = static_cast<int>(together);
      std::vector<UpdateNumbers<float>> numbers;
      for (int64_t i = 0; i < together; ++i) {
        const UpdateRule rule = work.RuleAt(done + i);
        numbers.push_back(NumbersOf<float>(&rule, /*decay=*/true));
      }
      device_->Upload(numbers_, numbers.data(), together * static_cast<int64_t>(sizeof(*numbers_)));
      const std::array<unsigned, kCounters> zeros{};
      device_->Upload(args.counters, zeros.data(), kCounter_bytes);
      LaunchNetwork(*device_, synapse_, blocks_, shared_bytes_, args);
      NetworkProgress progress;
      device_->Download(&progress, args.progress, sizeof(progress));
      done += progress.steps;
      if (!progress.finite || (asks && done < steps && (*work.stop_requested)())) {
        break;
      }
    }
    return done;
  }

  std::string Describe() const override {
    return fmt::format(
        "cuda: small network, {} neurons in each of {} blocks, {} KiB of shared memory, {} of {} rows "
        "kept{}",
        args_.neurons, blocks_, shared_bytes_ / 1024, args_.kept_rows, max_batch_, args_.rounded ? " in bf16" : "");
  }

 private:
  void* Take(int64_t size_bytes) {
    taken_.push_back(device_->Allocate(size_bytes));
    return taken_.back();
  }

  std::shared_ptr<Device> device_;
  NetworkArgs<float> args_;
  Synapse synapse_;
  int blocks_;
  int64_t shared_bytes_;
  int64_t max_batch_ = 0;
  UpdateNumbers<float>* numbers_ = nullptr;
  std::vector<void*> taken_;
};

}  // namespace

Verdict CudaNetworkSuits(NetworkPlanRequest request, Device& device) {
  float anywhere = 0;  // places are worked out for arrays that are there, whatever is in them
  request.arrays.clear();
  for (const LayerSpec& layer : request.layers) {
    LayerArrays arrays;
    arrays.weights.value = &anywhere;
    arrays.bias.value = layer.bias ? &anywhere : nullptr;
    request.arrays.push_back(arrays);
  }
  Verdict why;
  ShareOut(request, device, &why);
  return why;
}

std::unique_ptr<PreparedNetwork> MakeCudaNetwork(const NetworkPlanRequest& request,
                                                 const std::shared_ptr<Device>& device, Verdict* why) {
  const std::optional<Share> share = ShareOut(request, *device, why);
  return share ? std::make_unique<CudaNetwork>(request, device, share->args, share->blocks, share->shared_bytes)
               : nullptr;
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
