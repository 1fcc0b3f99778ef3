// Plans a small network into one block of memory and walks it step by step.
#include "lamina/backend/cpu/small_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lamina/backend/cpu/small_kernels.h"
#include "lamina/backend/host_backend.h"
#include "lamina/base/buffer.h"

namespace lamina::cpu {
namespace {

constexpr int64_t kMostParameters_bytes = 256 << 10;  // with optimiser state: beside the batch in 1 MiB
// Multiply-adds of a forward pass. On one thread this way stays 1.3 to 2 times as fast up to 600 K, and nothing larger
// was tried; from here on the others have a second thread (ThreadsFor in team.h).
constexpr int64_t kMostWork = 2 * kWorkPerThread;
constexpr int64_t kMostBatch = 1024;   // activations and deltas of wider layers leave the cache
constexpr int64_t kPrefetchRows = 12;  // rows of a large data set come from memory

// Vector operations of a sample's three passes for weights that lie as rows × columns.
int64_t Operations(int64_t rows, int64_t columns, int64_t lanes) {
  constexpr int64_t kSumOfLanes = 5;  // adding up a vector, in operations
  const int64_t vectors = CeilDivide(columns, lanes);
  return rows * (3 * vectors + kSumOfLanes);
}

// Turned weights: forward over whole vectors of outputs, input gradient by sums of lanes. Distances need the other
// order for their input gradient.
bool Turns(const LayerSpec& layer, bool first, int64_t lanes) {
  if (!first && IsDistance(layer.synapse)) {
    return false;
  }
  const int64_t spared = first ? 5 * layer.inputs : 0;  // no input gradient
  return Operations(layer.inputs, layer.outputs, lanes) - spared <= Operations(layer.outputs, layer.inputs, lanes);
}

template <class T>
class SmallNetwork final : public PreparedNetwork {
 public:
  explicit SmallNetwork(const NetworkPlanRequest& request)
      : specs_(request.layers.begin(), request.layers.end()),
        arrays_(request.arrays),
        state_count_(request.state_count),
        max_batch_(request.max_batch),
        kernels_(SmallKernels<T>()),
        layers_(specs_.size()) {
    loss_.loss = request.loss;
    loss_.class_threshold = request.class_threshold;
    loss_.label_smoothing = request.label_smoothing;
    Place(nullptr);
    buffer_ = AlignedBuffer(used_ * static_cast<int64_t>(sizeof(T)));
    Place(buffer_.template As<T>().data());
  }

  int64_t Run(const TrainingSteps& work) override {
    if (work.begin == work.end) {
      return 0;
    }
    CopyParameters(&SmallNetwork::CopyIn);
    const int64_t steps = work.count();
    int64_t done = 0;
    while (done < steps) {
      const int64_t begin = work.begin + done * work.batch;
      Step(work, work.RuleAt(done), begin, std::min(work.batch, work.end - begin));
      ++done;
      if (!std::isfinite(work.sums->loss) ||
          (done < steps && work.stop_requested != nullptr && *work.stop_requested && (*work.stop_requested)())) {
        break;
      }
    }
    CopyParameters(&SmallNetwork::CopyOut);
    return done;
  }

  std::string Describe() const override {
    return fmt::format("cpu: small network, {} KiB in one block, {}, 1 thread", buffer_.size_bytes() / 1024,
                       kernels_.target);
  }

 private:
  int64_t Padded(int64_t count) const { return RoundUp(std::max<int64_t>(count, 1), kernels_.lanes); }

  // Gives every array its place from `base` on; with null only counts.
  void Place(T* base) {
    used_ = 0;
    const auto take = [&](int64_t count) {
      T* const at = base == nullptr ? nullptr : base + used_;
      used_ += Padded(count);
      return at;
    };
    const auto take_arrays = [&](int64_t count, bool gradient) {
      ParameterArrays arrays;
      arrays.value = take(count);
      arrays.gradient = gradient ? take(count) : nullptr;
      for (int i = 0; i < state_count_; ++i) {
        arrays.state[i] = take(count);
      }
      return arrays;
    };
    x_stride_ = Padded(specs_.front().inputs);
    x_ = take(max_batch_ * x_stride_);
    targets_ = take(max_batch_ * specs_.back().outputs);
    sample_weights_ = take(max_batch_);
    for (size_t l = 0; l < specs_.size(); ++l) {
      const LayerSpec& spec = specs_[l];
      SmallLayer<T>& layer = layers_[l];
      layer.inputs = spec.inputs;
      layer.outputs = spec.outputs;
      layer.activation = &spec.activation;
      layer.turned = Turns(spec, l == 0, kernels_.lanes);
      layer.stride = Padded(layer.turned ? spec.outputs : spec.inputs);
      layer.x_stride = l == 0 ? x_stride_ : layers_[l - 1].batch_stride;
      layer.batch_stride = Padded(spec.outputs);
      const int64_t batch = max_batch_ * layer.batch_stride;
      layer.a = take(batch);
      layer.delta = take(batch);
      layer.z = spec.activation.slope_needs_input() ? take(batch) : nullptr;
      layer.distance = SynapseNeedsDistance(spec.synapse) ? take(batch) : nullptr;
      layer.scaled = SynapseScalesDelta(spec.synapse) ? take(batch) : nullptr;
      layer.weights = take_arrays((layer.turned ? spec.inputs : spec.outputs) * layer.stride, false);
      layer.bias = spec.bias ? take_arrays(spec.outputs, true) : ParameterArrays{};
    }
  }

  // A matrix of outputs × inputs to its padded place, or back.
  void CopyIn(const SmallLayer<T>& layer, const T* outside, T* inside) {
    for (int64_t j = 0; j < layer.outputs; ++j) {
      for (int64_t k = 0; k < layer.inputs; ++k) {
        inside[layer.turned ? k * layer.stride + j : j * layer.stride + k] = outside[j * layer.inputs + k];
      }
    }
  }
  void CopyOut(const SmallLayer<T>& layer, T* outside, const T* inside) {
    for (int64_t j = 0; j < layer.outputs; ++j) {
      for (int64_t k = 0; k < layer.inputs; ++k) {
        outside[j * layer.inputs + k] = inside[layer.turned ? k * layer.stride + j : j * layer.stride + k];
      }
    }
  }

  // All parameters and their state, inwards or outwards.
  template <class Copy>
  void CopyParameters(const Copy& copy) {
    for (size_t l = 0; l < layers_.size(); ++l) {
      const auto each = [&](const ParameterArrays& outside, const ParameterArrays& inside, const auto& fn) {
        fn(static_cast<T*>(outside.value), static_cast<T*>(inside.value));
        for (int i = 0; i < state_count_; ++i) {
          fn(static_cast<T*>(outside.state[i]), static_cast<T*>(inside.state[i]));
        }
      };
      each(arrays_[l].weights, layers_[l].weights,
           [&](T* outside, T* inside) { (this->*copy)(layers_[l], outside, inside); });
      if (specs_[l].bias) {
        SmallLayer<T> vector;  // a matrix of one column
        vector.outputs = specs_[l].outputs;
        vector.inputs = vector.stride = 1;
        each(arrays_[l].bias, layers_[l].bias, [&](T* outside, T* inside) { (this->*copy)(vector, outside, inside); });
      }
    }
  }

  // Where the layers read the batch: one row of the data set as it is, or copies.
  struct Batch {
    const T* x;
    ConstMatrixView targets;
    const T* sample_weights;
  };

  Batch GatherBatch(const TrainingSteps& work, int64_t begin, int64_t rows) {
    const auto row_at = [&](int64_t i) { return work.order == nullptr ? i : work.order[i]; };
    for (int64_t i = begin + kPrefetchRows; i < std::min(work.end, begin + kPrefetchRows + rows); ++i) {
      __builtin_prefetch(work.x.Row<T>(row_at(i)));
      __builtin_prefetch(work.targets.Row<T>(row_at(i)));
    }
    const auto* weights = static_cast<const T*>(work.sample_weights);
    const int64_t outputs = specs_.back().outputs;
    if (rows == 1 && layers_.front().turned) {
      const int64_t row = row_at(begin);
      return {work.x.Row<T>(row), work.targets.Rows(row, 1), weights == nullptr ? nullptr : weights + row};
    }
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = row_at(begin + i);
      std::memcpy(x_ + i * x_stride_, work.x.Row<T>(row), static_cast<size_t>(work.x.cols) * sizeof(T));
      std::memcpy(targets_ + i * outputs, work.targets.Row<T>(row), static_cast<size_t>(outputs) * sizeof(T));
      if (weights != nullptr) {
        sample_weights_[i] = weights[row];
      }
    }
    return {x_, ViewOf<const T>(targets_, rows, outputs), weights == nullptr ? nullptr : sample_weights_};
  }

  const SmallPasses<T>& PassesOf(size_t l) const { return kernels_.synapses[static_cast<size_t>(specs_[l].synapse)]; }

  void Step(const TrainingSteps& work, const UpdateRule& rule, int64_t begin, int64_t rows) noexcept {
    const Batch batch = GatherBatch(work, begin, rows);
    const auto input_of = [&](size_t l) { return l == 0 ? batch.x : static_cast<const T*>(layers_[l - 1].a); };
    for (size_t l = 0; l < layers_.size(); ++l) {
      PassesOf(l).forward(layers_[l], input_of(l), rows);
    }
    const SmallLayer<T>& last = layers_.back();
    const auto view = [&](T* data) { return MatrixView{data, rows, last.outputs, last.batch_stride, DTypeOf<T>()}; };
    loss_.activation = last.activation;
    loss_.a = view(last.a);
    loss_.z = view(last.z);
    loss_.targets = batch.targets;
    loss_.sample_weights = batch.sample_weights;
    loss_.delta = view(last.delta);
    loss_.sums = work.sums;
    ComputeLossOnHost(loss_);
    SmallStep<T> step{rows, &rule, NumbersOf<T>(&rule, true), {}};
    step.bias_update = step.weight_update;
    step.bias_update.lambda = 0;
    for (size_t l = layers_.size(); l-- > 0;) {
      if (l > 0) {
        PassesOf(l).input_gradient(layers_[l], layers_[l - 1], rows);
      }
      PassesOf(l).weight_gradient(layers_[l], input_of(l), step);
    }
  }

  std::vector<LayerSpec> specs_;
  std::vector<LayerArrays> arrays_;
  int state_count_;
  int64_t max_batch_;
  const SmallTable<T>& kernels_;
  std::vector<SmallLayer<T>> layers_;
  LossArgs loss_;
  AlignedBuffer buffer_;
  int64_t used_ = 0;
  int64_t x_stride_ = 0;
  T* x_ = nullptr;
  T* targets_ = nullptr;
  T* sample_weights_ = nullptr;
};

}  // namespace

Verdict SuitsSmallNetwork(const NetworkPlanRequest& request) {
  int64_t parameters = 0;
  int64_t work = 0;
  for (const LayerSpec& spec : request.layers) {
    if (spec.trained_radius) {
      return Verdict::No("trained radii are computed layer by layer");
    }
    parameters += spec.parameter_count();
    work += spec.weight_count() * request.max_batch;
  }
  const int64_t bytes = parameters * (1 + request.state_count) * DTypeSize_bytes(request.dtype);
  if (bytes > kMostParameters_bytes) {
    return Verdict::No(fmt::format("{} KiB of parameters and state are more than the {} KiB of a small network",
                                   bytes / 1024, kMostParameters_bytes / 1024));
  }
  if (request.max_batch > kMostBatch || work > kMostWork) {
    return Verdict::No(fmt::format("{} samples a step are enough work for blocks and threads", request.max_batch));
  }
  return Verdict::Yes();
}

std::unique_ptr<PreparedNetwork> MakeSmallNetwork(const NetworkPlanRequest& request) {
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<PreparedNetwork> {
    return std::make_unique<SmallNetwork<T>>(request);
  });
}

}  // namespace lamina::cpu
