// Plans a small network into one block of memory and walks it step by step.
#include "lamina/backend/cpu/small_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <numeric>

#include "lamina/backend/cpu/small_batch.h"
#include "lamina/backend/cpu/small_kernels.h"
#include "lamina/backend/cpu/small_plan.h"
#include "lamina/backend/cpu/steps_end.h"
#include "lamina/backend/cpu/team.h"
#include "lamina/backend/host_backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/team_choice.h"
#include "lamina/platform/thread.h"

namespace lamina::cpu {
namespace {

constexpr int64_t kMostParameters_bytes = 256 << 10;  // with optimizer state: beside the batch in 1 MiB
constexpr int64_t kMostBatch = 1024;                  // activations and deltas of wider layers leave the cache
constexpr int64_t kStepsTogether = 16;                // without a word to TeamChoice: a millisecond

template <class T>
class SmallNetwork final : public PreparedNetwork {
 public:
  SmallNetwork(const NetworkPlanRequest& request, bool halves, int threads)
      : specs_(request.layers.begin(), request.layers.end()),
        arrays_(request.arrays),
        state_count_(request.state_count),
        max_batch_(request.max_batch),
        halves_(halves),
        threads_(threads),
        kernels_(SmallKernels<T>()),
        layers_(specs_.size()) {
    loss_.loss = request.loss;
    loss_.class_threshold = request.class_threshold;
    loss_.label_smoothing = request.label_smoothing;
    Place(nullptr);
    buffer_ = AlignedBuffer(used_ * static_cast<int64_t>(sizeof(T)));
    Place(buffer_.template As<T>().data());
    for (size_t l = 0; l < layers_.size(); ++l) {
      sample_rows_ = std::lcm(sample_rows_, PassesOf(l).sample_rows);
      const SmallLayer<T>& layer = layers_[l];
      tiles_.Add(layer.turned ? layer.inputs : layer.outputs, layer.turned ? layer.outputs : layer.inputs,
                 specs_[l].bias ? layer.outputs : 0,
                 {PassesOf(l).gradient_rows, kernels_.tile_vectors, kernels_.lanes});
    }
    sums_.resize(static_cast<size_t>(CeilDivide(max_batch_, sample_rows_)));
  }

  int64_t Run(const TrainingSteps& work) override {
    if (work.begin == work.end) {
      return 0;
    }
    CopyParameters(&SmallNetwork::CopyIn);
    for (const SmallLayer<T>& layer : layers_) {
      if (layer.turned_copy != nullptr) {
        kernels_.turn(static_cast<const T*>(layer.weights.value), layer.stride, layer.outputs, layer.inputs,
                      layer.turned_copy, layer.copy_stride);
      }
    }
    const int64_t steps = work.count();
    ended_ = false;
    failure_ = nullptr;
    int64_t done = 0;
    while (done < steps && !ended_) {
      const int64_t first = done;
      const int64_t last = std::min(steps, first + kStepsTogether);
      const int64_t start = platform::SteadyTime_ns();
      {
        const AloneScope scope(team_choice_.alone());
        RunTeam(threads_, [&](Team team) {
          int64_t step = first;
          while (step < last && !ended_) {
            Step(work, step++, team);
          }
          if (team.thread == 0) {
            done = step;
          }
        });
      }
      const int64_t step_ns = (platform::SteadyTime_ns() - start) / (done - first);
      for (int64_t i = first; threads_ > 1 && i < done; ++i) {
        team_choice_.Took(step_ns);
      }
    }
    CopyParameters(&SmallNetwork::CopyOut);
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    return done;
  }

  std::string Describe() const override {
    return fmt::format("cpu: small network, {} KiB in one block, {}, {} thread{}", buffer_.size_bytes() / 1024,
                       kernels_.target, threads_, threads_ == 1 ? "" : "s");
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
    room_.x_stride = Padded(specs_.front().inputs);
    room_.outputs = specs_.back().outputs;
    room_.x = take(max_batch_ * room_.x_stride);
    room_.targets = take(max_batch_ * room_.outputs);
    room_.sample_weights = take(max_batch_);
    for (size_t l = 0; l < specs_.size(); ++l) {
      const LayerSpec& spec = specs_[l];
      SmallLayer<T>& layer = layers_[l];
      layer.inputs = spec.inputs;
      layer.outputs = spec.outputs;
      layer.activation = &spec.activation;
      const Keeping keeping = KeepingOf(spec, l == 0, max_batch_, kernels_.lanes);
      layer.turned = keeping == Keeping::kTurned;
      layer.stride = Padded(layer.turned ? spec.outputs : spec.inputs);
      layer.x_stride = l == 0 ? room_.x_stride : layers_[l - 1].batch_stride;
      layer.batch_stride = Padded(spec.outputs);
      const int64_t batch = max_batch_ * layer.batch_stride;
      layer.a = take(batch);
      layer.delta = take(batch);
      layer.z = spec.activation.slope_needs_input() ? take(batch) : nullptr;
      layer.distance = SynapseNeedsDistance(spec.synapse) ? take(batch) : nullptr;
      layer.scaled = SynapseScalesDelta(spec.synapse) ? take(batch) : nullptr;
      const int64_t weights = (layer.turned ? spec.inputs : spec.outputs) * layer.stride;
      layer.weights = take_arrays(weights, halves_);
      if (keeping == Keeping::kBoth) {
        layer.copy_stride = Padded(spec.outputs);
        layer.turned_copy = take(spec.inputs * layer.copy_stride);
      }
      layer.bias = spec.bias ? take_arrays(spec.outputs, true) : ParameterArrays{};
      layer.more = halves_ ? take(weights) : nullptr;
      layer.bias_more = halves_ && spec.bias ? take(spec.outputs) : nullptr;
    }
  }

  // A matrix of outputs × inputs to its padded place, or back.
  void CopyIn(const SmallLayer<T>& layer, const T* outside, T* inside) {
    if (layer.turned) {
      kernels_.turn(outside, layer.inputs, layer.outputs, layer.inputs, inside, layer.stride);
    } else {
      CopyRows(outside, layer.inputs, inside, layer.stride, layer.outputs, layer.inputs);
    }
  }
  void CopyOut(const SmallLayer<T>& layer, T* outside, const T* inside) {
    if (layer.turned) {
      kernels_.turn(inside, layer.stride, layer.inputs, layer.outputs, outside, layer.inputs);
    } else {
      CopyRows(inside, layer.stride, outside, layer.inputs, layer.outputs, layer.inputs);
    }
  }
  static void CopyRows(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(from + i * from_stride, columns, to + i * to_stride);
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
        vector.inputs = vector.stride = 1;  // its numbers side by side
        each(arrays_[l].bias, layers_[l].bias, [&](T* outside, T* inside) { (this->*copy)(vector, outside, inside); });
      }
    }
  }

  const SmallPasses<T>& PassesOf(size_t l) const { return kernels_.synapses[static_cast<size_t>(specs_[l].synapse)]; }

  // A step of all threads: each computes answers and deltas of some samples. When all are there, each computes some
  // tiles of the gradients, then updates. Results do not depend on who computes what.
  void Step(const TrainingSteps& work, int64_t index, Team team) noexcept {
    const int64_t begin = work.begin + index * work.batch;
    const SmallBatch<T> batch = room_.At(work, begin, std::min(work.batch, work.end - begin), layers_.front().turned);
    const int64_t parts = CeilDivide(batch.rows, sample_rows_);
    const int64_t first = team.Begin(parts) * sample_rows_;
    const int64_t last = std::min(batch.rows, team.End(parts) * sample_rows_);
    if (first < last) {
      room_.Gather(work, begin, first, last, batch.copied);
      FindDeltas(batch, first, last);
    }
    team.Barrier();
    if (team.thread == 0) {
      ended_ = !AddParts(std::span(sums_).first(static_cast<size_t>(parts)), *work.sums) ||
               (index + 1 < work.count() && IsToldToStop(work, failure_));
    }
    const UpdateRule rule = work.RuleAt(index);
    SmallStep<T> step{batch.rows, &rule, NumbersOf<T>(&rule, true), {}};
    step.bias_update = step.weight_update;
    step.bias_update.lambda = 0;
    if (halves_) {
      UpdateByHalves(batch, parts / 2 * sample_rows_, step, team);
    } else {
      const double size = team.size;
      tiles_.ForShare(team.thread / size, (team.thread + 1) / size, [&](size_t l, int64_t tile, int64_t end) {
        PassesOf(l).weight_gradient(layers_[l], InputOf(batch, l), step, tile, end);
      });
    }
    team.Barrier();
  }

  const T* InputOf(const SmallBatch<T>& batch, size_t l) const { return l == 0 ? batch.x : layers_[l - 1].a; }

  // Gradients of the samples before and after `half`, then their sums. Two threads find the gradients of the samples
  // that they have in their caches: most of what a step moves between cores is read then.
  void UpdateByHalves(const SmallBatch<T>& batch, int64_t half, const SmallStep<T>& step, Team team) noexcept {
    for (const bool second : {false, true}) {
      const int64_t from = second ? half : 0;
      SmallStep<T> gradient = step;
      gradient.rule = nullptr;
      gradient.batch = second ? batch.rows - half : half;
      const auto store = [&](size_t l, int64_t tile, int64_t end) {
        SmallLayer<T> layer = layers_[l].From(from);
        if (second) {
          layer.weights.gradient = layer.more;
          layer.bias.gradient = layer.bias_more;
        }
        PassesOf(l).weight_gradient(layer, InputOf(batch, l) + from * layer.x_stride, gradient, tile, end);
      };
      const double size = team.size;  // the second half comes after the whole work of the first
      const double before = second ? 1 : 0;
      tiles_.ForShare(2 * team.thread / size - before, 2 * (team.thread + 1) / size - before, store);
    }
    team.Barrier();
    for (size_t l = 0; l < layers_.size(); ++l) {
      const SmallLayer<T>& layer = layers_[l];
      const int64_t rows = layer.turned ? layer.inputs : layer.outputs;
      if (team.Begin(rows) < team.End(rows)) {
        kernels_.update_by_halves(layer, step, team.Begin(rows), team.End(rows));
      }
    }
  }

  // Samples [first, last).
  void FindDeltas(const SmallBatch<T>& batch, int64_t first, int64_t last) noexcept {
    const int64_t rows = last - first;
    const T* x = batch.x + first * room_.x_stride;
    for (size_t l = 0; l < layers_.size(); ++l) {
      const SmallLayer<T> layer = layers_[l].From(first);
      PassesOf(l).forward(layer, x, rows);
      x = layer.a;
    }
    const SmallLayer<T>& output = layers_.back();
    const auto view = [&](T* data) {
      return MatrixView{data, batch.rows, output.outputs, output.batch_stride, DTypeOf<T>()};
    };
    LossArgs loss = loss_;
    loss.activation = output.activation;
    loss.a = view(output.a);
    loss.z = output.z == nullptr ? MatrixView{} : view(output.z);
    loss.targets = batch.targets;
    loss.sample_weights = batch.sample_weights;
    loss.delta = view(output.delta);
    for (int64_t i = first; i < last; i += sample_rows_) {
      sums_[static_cast<size_t>(i / sample_rows_)] = ComputeLossOfSamples(loss, i, std::min(last, i + sample_rows_));
    }
    for (size_t l = layers_.size(); l-- > 0;) {
      const SmallLayer<T> layer = layers_[l].From(first);
      PassesOf(l).scale(layer, rows);
      if (l > 0) {
        PassesOf(l).input_gradient(layer, layers_[l - 1].From(first), rows);
      }
    }
  }

  std::vector<LayerSpec> specs_;
  std::vector<LayerArrays> arrays_;
  int state_count_;
  int64_t max_batch_;
  bool halves_;  // of a batch have gradients of their own
  int threads_;
  const SmallTable<T>& kernels_;
  std::vector<SmallLayer<T>> layers_;
  LossArgs loss_;
  int64_t sample_rows_ = 1;     // of a part of a batch
  std::vector<LossSums> sums_;  // of the parts
  GradientTiles tiles_;
  TeamChoice team_choice_;
  bool ended_ = false;  // told by the first thread between two barriers
  std::exception_ptr failure_;
  AlignedBuffer buffer_;
  int64_t used_ = 0;
  SmallBatchRoom<T> room_;
};

}  // namespace

Verdict FitsSmallNetwork(const NetworkPlanRequest& request) {
  if (LosesDigits(request.precision)) {
    return Verdict::No("steps of few rows are computed as a whole in full precision alone");
  }
  if (std::ranges::any_of(request.layers, &LayerSpec::trained_radius)) {
    return Verdict::No("trained radii are computed layer by layer");
  }
  return Verdict::Yes();
}

Verdict SuitsSmallNetwork(const NetworkPlanRequest& request) {
  if (Verdict fits = FitsSmallNetwork(request); !fits) {
    return fits;
  }
  int64_t parameters = 0;
  for (const LayerSpec& spec : request.layers) {
    parameters += spec.parameter_count();
  }
  const int64_t bytes = parameters * (1 + request.state_count) * DTypeSize_bytes(request.dtype);
  if (bytes > kMostParameters_bytes) {
    return Verdict::No(fmt::format("{} KiB of parameters and state are more than the {} KiB of a small network",
                                   bytes / 1024, kMostParameters_bytes / 1024));
  }
  if (request.max_batch > kMostBatch) {
    return Verdict::No(fmt::format("{} samples a step are enough work for blocks and threads", request.max_batch));
  }
  return Verdict::Yes();
}

std::unique_ptr<PreparedNetwork> MakeSmallNetwork(const NetworkPlanRequest& request, int threads) {
  int64_t work = 0;
  for (const LayerSpec& spec : request.layers) {
    work += spec.weight_count() * request.max_batch;
  }
  const int64_t worth = std::max<int64_t>(1, work / kWorkPerThread);  // threads; results must not depend on how many
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<PreparedNetwork> {
    return std::make_unique<SmallNetwork<T>>(request, worth > 1, static_cast<int>(std::min<int64_t>(worth, threads)));
  });
}

}  // namespace lamina::cpu
