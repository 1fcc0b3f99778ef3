// Cuts a batch into groups of blocks, which threads take one by one, and adds up what the groups give in their order.
#include "lamina/backend/cpu/row_block_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <vector>

#include "lamina/backend/cpu/row_block_layer.h"
#include "lamina/backend/cpu/row_block_plan.h"
#include "lamina/backend/cpu/steps_end.h"
#include "lamina/backend/cpu/team.h"
#include "lamina/backend/host_backend.h"
#include "lamina/base/abandon.h"
#include "lamina/base/buffer.h"
#include "lamina/base/team_choice.h"
#include "lamina/platform/thread.h"

namespace lamina::cpu {
namespace {

constexpr int64_t kUpdatePiece = 1024;       // parameters
constexpr int64_t kTogether_ns = 1'000'000;  // steps without a word to TeamChoice
constexpr int64_t kMostTogether = 16;

// Some neighboring parameters: their gradient in a group's, and where they are.
struct UpdatePiece {
  int64_t gradient;
  int64_t at;
  int64_t count;
  size_t layer;
  const ParameterArrays* arrays;
  bool are_weights;
};

template <class T>
class RowBlockNetwork final : public PreparedNetwork {
 public:
  RowBlockNetwork(const NetworkPlanRequest& request, int threads)
      : specs_(request.layers.begin(), request.layers.end()),
        arrays_(request.arrays),
        kernels_(RowBlockKernels<T>()),
        rounds_(request.precision == Precision::kBFloat16 && kernels_.round != nullptr),
        most_vectors_(MostVectors(specs_, kernels_.lanes, sizeof(T), kernels_.tile_vectors, rounds_)) {
    loss_.loss = request.loss;
    loss_.class_threshold = request.class_threshold;
    loss_.label_smoothing = request.label_smoothing;
    const RowCuts cuts = CutsOf(request.max_batch);
    threads_ = static_cast<int>(
        std::clamp<int64_t>(WorthThreads(request.max_batch), 1, std::min<int64_t>(threads, cuts.groups)));
    ListPieces();
    const int64_t groups = std::min(RowCuts::kMostGroups, cuts.blocks);  // a smaller batch may have more than this one
    sums_.resize(static_cast<size_t>(groups));
    for (int pass = 0; pass < 2; ++pass) {  // counts, then places
      used_ = 0;
      gradients_ = Take(groups * gradient_stride_);
      rounded_weights_.clear();
      for (const LayerSpec& spec : specs_) {
        rounded_weights_.push_back(Rounds(spec) ? Take(spec.weight_count()) : nullptr);
      }
      rooms_.assign(static_cast<size_t>(threads_), Room());
      for (Room& room : rooms_) {
        Place(room);
      }
      if (pass == 0) {
        buffer_ = AlignedBuffer(used_ * static_cast<int64_t>(sizeof(T)));
        base_ = buffer_.template As<T>().data();
        std::fill_n(base_, used_, T(0));
      }
    }
  }

  int64_t Run(const TrainingSteps& work) override {
    const int64_t steps = work.count();
    ended_ = false;
    failure_ = nullptr;
    for (const UpdatePiece& piece : pieces_) {
      RoundPiece(piece);
    }
    int64_t done = 0;
    while (done < steps && !ended_) {
      const int64_t first = done;
      const int64_t last = std::min(steps, first + std::clamp<int64_t>(kTogether_ns / step_ns_, 1, kMostTogether));
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
      step_ns_ = std::max<int64_t>(1, (platform::SteadyTime_ns() - start) / (done - first));
      for (int64_t i = first; threads_ > 1 && i < done; ++i) {
        team_choice_.Took(step_ns_);
      }
    }
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    return done;
  }

  std::string Describe() const override {
    return fmt::format("cpu: blocks of up to {} rows through the whole network, {} KiB, {}, {} thread{}{}",
                       most_vectors_ * kernels_.lanes, buffer_.size_bytes() / 1024, kernels_.target, threads_,
                       threads_ == 1 ? "" : "s", rounds_ ? ", bf16 operands widened" : "");
  }

 private:
  // What a thread needs for a block.
  struct Room {
    T* x = nullptr;
    T* targets = nullptr;
    T* sample_weights = nullptr;
    std::vector<RowBlockLayer<T>> layers;
    std::vector<T*> rounded;  // x of every layer, where that is rounded; else null
  };

  bool Rounds(const LayerSpec& spec) const { return rounds_ && !IsDistance(spec.synapse); }

  RowCuts CutsOf(int64_t rows) const { return {rows, kernels_.lanes, kernels_.tile_vectors, most_vectors_}; }

  int64_t WorthThreads(int64_t rows) const {
    int64_t work = 0;
    for (const LayerSpec& spec : specs_) {
      work += spec.weight_count() * rows;
    }
    return work / kWorkPerThread;
  }

  // Where the parameters are in the gradient of a group, array behind array.
  void ListPieces() {
    const auto add = [&](size_t layer, const ParameterArrays& arrays, int64_t count, bool are_weights) {
      for (int64_t at = 0; at < count; at += kUpdatePiece) {
        pieces_.push_back({gradient_stride_ + at, at, std::min(kUpdatePiece, count - at), layer, &arrays, are_weights});
      }
      gradient_stride_ += Padded(count);
    };
    for (size_t l = 0; l < specs_.size(); ++l) {
      add(l, arrays_[l].weights, specs_[l].weight_count(), true);
      if (specs_[l].bias) {
        add(l, arrays_[l].bias, specs_[l].outputs, false);
      }
    }
  }

  // What products read of a piece that has changed.
  void RoundPiece(const UpdatePiece& piece) noexcept {
    if (T* const rounded = rounded_weights_[piece.layer]; piece.are_weights && rounded != nullptr) {
      kernels_.round(static_cast<const T*>(piece.arrays->value) + piece.at, piece.count, rounded + piece.at);
    }
  }

  // Every array begins on a cache line.
  static int64_t Padded(int64_t count) { return RoundUp(count, int64_t{64} / static_cast<int64_t>(sizeof(T))); }
  T* Take(int64_t count) {
    T* const at = base_ == nullptr ? nullptr : base_ + used_;
    used_ += Padded(count);
    return at;
  }

  void Place(Room& room) {
    const int64_t rows = most_vectors_ * kernels_.lanes;
    room.x = Take(specs_.front().inputs * rows);
    room.targets = Take(specs_.back().outputs * rows);
    room.sample_weights = Take(rows);
    T* x = room.x;
    for (size_t l = 0; l < specs_.size(); ++l) {
      const LayerSpec& spec = specs_[l];
      RowBlockLayer<T> layer{spec.inputs, spec.outputs, &spec.activation};
      const int64_t size = spec.outputs * rows;
      const bool by_rows = SumsByRows(spec, kernels_.lanes);
      if (by_rows) {
        layer.row_stride = Padded(spec.inputs);
        layer.rows = Take(rows * layer.row_stride);
      }
      layer.weights = static_cast<const T*>(Rounds(spec) ? rounded_weights_[l] : arrays_[l].weights.value);
      room.rounded.push_back(!Rounds(spec) ? nullptr : l == 0 ? x : Take(spec.inputs * rows));
      layer.x = Rounds(spec) ? room.rounded.back() : x;
      layer.a = Take(size);
      layer.z = spec.activation.slope_needs_input() ? Take(size) : nullptr;
      layer.distance = SynapseNeedsDistance(spec.synapse) ? Take(size) : nullptr;
      layer.delta = Take(size);
      layer.scaled = SynapseScalesDelta(spec.synapse) || Rounds(spec) ? Take(size) : nullptr;
      layer.sums = Take(Padded(spec.weight_count()) * (by_rows ? 1 : kernels_.lanes));
      if (spec.bias) {
        layer.bias = static_cast<const T*>(arrays_[l].bias.value);
        layer.bias_sums = Take(Padded(spec.outputs) * kernels_.lanes);
      }
      room.layers.push_back(layer);
      x = layer.a;
    }
  }

  // A step of all threads: groups one by one, then parts of the parameters.
  void Step(const TrainingSteps& work, int64_t index, Team team) noexcept {
    const int64_t begin = work.begin + index * work.batch;
    const int64_t rows = std::min(work.batch, work.end - begin);
    const RowCuts cuts = CutsOf(rows);
    Room& room = rooms_[static_cast<size_t>(team.thread)];
    const auto next = [&] { return next_group_.fetch_add(1, std::memory_order_relaxed); };
    for (int64_t group = next(); group < cuts.groups && !Abandoned(); group = next()) {
      SumGroup(work, begin, rows, cuts, group, room);
    }
    team.Barrier();
    if (team.thread == 0) {
      next_group_.store(0, std::memory_order_relaxed);
      ended_ = !AddParts(std::span(sums_).first(static_cast<size_t>(cuts.groups)), *work.sums) ||
               (index + 1 < work.count() && IsToldToStop(work, failure_));
    }
    const UpdateRule rule = work.RuleAt(index);
    const auto count = static_cast<int64_t>(pieces_.size());
    const int64_t last = team.End(count);
    if (team.Begin(count) < last) {
      const UpdateNumbers<T> of_weights = NumbersOf<T>(&rule, true);
      UpdateNumbers<T> of_biases = of_weights;
      of_biases.lambda = 0;
      for (int64_t i = team.Begin(count); i < last; ++i) {
        const UpdatePiece& piece = pieces_[static_cast<size_t>(i)];
        kernels_.update(rule, piece.are_weights ? of_weights : of_biases,
                        {gradients_ + piece.gradient, cuts.groups, gradient_stride_, piece.at, piece.count},
                        *piece.arrays);
        RoundPiece(piece);
      }
    }
    team.Barrier();
  }

  // The gradient and the loss of a group of blocks.
  void SumGroup(const TrainingSteps& work, int64_t begin, int64_t rows, const RowCuts& cuts, int64_t group,
                Room& room) noexcept {
    LossSums& sums = sums_[static_cast<size_t>(group)] = {};
    const int64_t first = cuts.BeginOf(group);
    const int64_t last = cuts.BeginOf(group + 1);
    for (int64_t b = first; b < last && !Abandoned(); ++b) {
      BlockOfRows block;
      block.begin = begin + b * cuts.block_rows;
      block.rows = std::min(cuts.block_rows, rows - b * cuts.block_rows);
      block.stride = RoundUp(block.rows, kernels_.lanes);
      block.first = b == first;
      PassBlock(work, block, rows, room, sums);
    }
    T* gradient = gradients_ + group * gradient_stride_;
    for (const RowBlockLayer<T>& layer : room.layers) {
      const int64_t weights = Padded(layer.inputs * layer.outputs);
      if (layer.rows == nullptr) {
        kernels_.reduce(layer.sums, weights, gradient);
      } else {
        std::copy_n(layer.sums, weights, gradient);
      }
      gradient += weights;
      if (layer.bias != nullptr) {
        kernels_.reduce(layer.bias_sums, Padded(layer.outputs), gradient);
        gradient += Padded(layer.outputs);
      }
    }
  }

  // A block through the network, forward and back.
  void PassBlock(const TrainingSteps& work, const BlockOfRows& block, int64_t rows, Room& room,
                 LossSums& sums) noexcept {
    const auto gather = [&](const void* from, int64_t stride, int64_t columns, T* to) {
      kernels_.gather({static_cast<const T*>(from), stride, work.order, columns}, block, to);
    };
    const RowBlockLayer<T>& first = room.layers.front();
    kernels_.gather(
        {static_cast<const T*>(work.x.data), work.x.stride, work.order, work.x.cols, first.rows, first.row_stride},
        block, room.x);
    gather(work.targets.data, work.targets.stride, work.targets.cols, room.targets);
    RowBlockLoss<T> loss{&loss_, room.targets, nullptr, T(1) / static_cast<T>(rows)};
    double weight = static_cast<double>(block.rows);
    if (work.sample_weights != nullptr) {
      gather(work.sample_weights, 1, 1, room.sample_weights);
      loss.sample_weights = room.sample_weights;
      weight = 0;
      for (int64_t i = 0; i < block.rows; ++i) {
        weight += static_cast<double>(room.sample_weights[i]);
      }
    }
    if (room.rounded.front() != nullptr && first.rows != nullptr) {
      kernels_.round(first.rows, block.stride * first.row_stride, first.rows);
    }
    const T* x = room.x;
    for (size_t l = 0; l < room.layers.size(); ++l) {
      const RowBlockLayer<T>& layer = room.layers[l];
      if (room.rounded[l] != nullptr) {
        kernels_.round(x, layer.inputs * block.stride, room.rounded[l]);
      }
      PassesOf(l).forward(layer, block);
      x = layer.a;
    }
    const LossSums part = kernels_.loss(loss, room.layers.back(), block);
    sums.loss += part.loss;
    sums.weight += weight;
    sums.correct += part.correct;
    sums.samples += part.samples;
    for (size_t l = room.layers.size(); l-- > 0;) {
      if (room.rounded[l] != nullptr) {
        kernels_.round(room.layers[l].delta, room.layers[l].outputs * block.stride, room.layers[l].scaled);
      }
      PassesOf(l).gradient(room.layers[l], block, l > 0);
      if (l > 0) {
        PassesOf(l).back(room.layers[l], room.layers[l - 1], block);
      }
    }
  }

  const RowBlockPasses<T>& PassesOf(size_t l) const {
    return kernels_.synapses[static_cast<size_t>(specs_[l].synapse)];
  }

  std::vector<LayerSpec> specs_;
  std::vector<LayerArrays> arrays_;
  const RowBlockTable<T>& kernels_;
  bool rounds_;           // operands to bf16
  int64_t most_vectors_;  // of a block
  int threads_ = 1;
  LossArgs loss_;
  std::vector<UpdatePiece> pieces_;
  int64_t gradient_stride_ = 0;  // of a group's gradient
  AlignedBuffer buffer_;
  T* base_ = nullptr;
  int64_t used_ = 0;
  T* gradients_ = nullptr;           // of the groups
  std::vector<T*> rounded_weights_;  // of the layers; null: as they are
  std::vector<Room> rooms_;
  std::vector<LossSums> sums_;  // of the groups
  std::atomic<int64_t> next_group_{0};
  TeamChoice team_choice_;
  int64_t step_ns_ = kTogether_ns;
  bool ended_ = false;  // told by the first thread between two barriers
  std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<PreparedNetwork> MakeRowBlockNetwork(const NetworkPlanRequest& request, int threads) {
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<PreparedNetwork> {
    return std::make_unique<RowBlockNetwork<T>>(request, threads);
  });
}

}  // namespace lamina::cpu
