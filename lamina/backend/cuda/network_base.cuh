// The kernel for small networks: what a block does whatever the first layer's synapse is. It takes parameters in and
// out, adds up over blocks, computes the layers above the first, loss and deltas, and updates. The rest: network.cuh.
#pragma once

#include <cstdint>
#include <utility>

#include "lamina/backend/cuda/network.h"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/backend/cuda/whole_batch.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// At the beginning of shared memory.
struct NetworkHead {
  LossSums warps[kNetworkThreads / kWarp];
  LossSums all;  // of all steps so far; in block 0
  int64_t rows[kMostNetworkBatch];
  int finite;
};
static_assert(sizeof(NetworkHead) <= kNetworkHead_bytes);

template <class T>
class NetworkBase {
 public:
  __device__ NetworkBase(const NetworkArgs<T>& args, void* shared)
      : args_(args),
        head_(*static_cast<NetworkHead*>(shared)),
        shared_(reinterpret_cast<T*>(static_cast<char*>(shared) + kNetworkHead_bytes)),
        thread_(static_cast<int>(threadIdx.x)),
        lane_(thread_ % kWarp),
        warp_(thread_ / kWarp),
        first_neuron_(static_cast<int>(blockIdx.x) * args.neurons) {
    const int left = args.layers[0].outputs - first_neuron_;
    neurons_ = left < args.neurons ? left : args.neurons;
  }

 protected:
  // A matrix of a parameter array: `rows` of `cols`, outside from `offset` on.
  template <bool kOut>
  __device__ void Copy(const NetworkArray<T>& array, int rows, int cols, int64_t offset, int64_t outer_stride,
                       int inner_stride) {
    const auto one = [&](T* outer, int at) {
      for (int n = thread_; n < rows * cols; n += kNetworkThreads) {
        T& outside = outer[offset + n / cols * outer_stride + n % cols];
        T& inside = shared_[at + n / cols * inner_stride + n % cols];
        if constexpr (kOut) {
          outside = inside;
        } else {
          inside = outside;
        }
      }
    };
    if (array.value == nullptr) {
      return;
    }
    one(array.value, array.at);
    for (int i = 0; i < kMostStates; ++i) {
      if (array.state[i] != nullptr) {
        one(array.state[i], array.state_at[i]);
      }
    }
  }

  // What is in every block is the same in all of them.
  template <bool kOut>
  __device__ void CopyParameters() {
    const NetworkLayer<T>& first = args_.layers[0];
    const NetworkLayer<T>& second = args_.layers[1];
    if (!kOut) {  // neurons that are not there are computed, too, and nobody reads them
      for (int n = thread_; n < args_.layers[0].stride * first.weight_stride; n += kNetworkThreads) {
        shared_[first.weights.at + n] = T(0);
      }
      __syncthreads();
    }
    Copy<kOut>(first.weights, neurons_, first.inputs, int64_t{first_neuron_} * first.inputs, first.inputs,
               first.weight_stride);
    Copy<kOut>(first.bias, 1, neurons_, first_neuron_, 0, 0);
    Copy<kOut>(second.weights, second.outputs, neurons_, first_neuron_, second.inputs, second.weight_stride);
    if (kOut && blockIdx.x > 0) {
      return;
    }
    Copy<kOut>(second.bias, 1, second.outputs, 0, 0, 0);
    for (int l = 2; l < args_.layer_count; ++l) {
      const NetworkLayer<T>& layer = args_.layers[l];
      Copy<kOut>(layer.weights, layer.outputs, layer.inputs, 0, layer.inputs, layer.weight_stride);
      Copy<kOut>(layer.bias, 1, layer.outputs, 0, 0, 0);
    }
  }

  // The rows of the step's samples.
  __device__ void FindRows() {
    for (int row = thread_; row < rows_; row += kNetworkThreads) {
      const int64_t sample = first_sample_ + row;
      head_.rows[row] = args_.order == nullptr ? sample : args_.order[sample];
    }
  }
  __device__ int64_t RowOf(int row) const { return head_.rows[row]; }
  // How many inputs of layer l this block has.
  __device__ int InputsOf(int l) const { return l == 1 ? neurons_ : args_.layers[l].inputs; }

  __device__ void GatherTargets() {
    const int cols = args_.layers[args_.layer_count - 1].outputs;
    for (int n = thread_; n < rows_ * cols; n += kNetworkThreads) {
      shared_[args_.targets + n] = args_.target_rows.At(RowOf(n / cols), n % cols);
    }
    if (args_.sample_weights != nullptr) {
      for (int n = thread_; n < rows_; n += kNetworkThreads) {
        shared_[args_.sample_weights_at + n] = args_.sample_weights[RowOf(n)];
      }
    }
  }

  // Output n by its input z.
  __device__ void SetOutput(const NetworkLayer<T>& layer, int n, T z) {
    if (layer.z >= 0) {
      shared_[layer.z + n] = z;
    }
    VisitActivation(layer.activation, [&](const auto& formula) { shared_[layer.a + n] = formula.Value(z); });
  }

  // The part of a block; that of number gridDim.x is the sums of all.
  __device__ T* SlotOf(int block) const { return args_.slots + int64_t{block} * args_.slot_size; }

  __device__ void ForwardSecond(int step) {
    const NetworkLayer<T>& layer = args_.layers[1];
    const int count = rows_ * layer.outputs;
    const int blocks = static_cast<int>(gridDim.x);
    const bool alone = blocks == 1;
    T* const out = alone ? nullptr : SlotOf(static_cast<int>(blockIdx.x));
    for (int n = thread_; n < count; n += kNetworkThreads) {
      const T* a = shared_ + args_.layers[0].a + n / layer.outputs * args_.layers[0].stride;
      const T* w = shared_ + layer.weights.at + n % layer.outputs * layer.weight_stride;
      T sum = T(0);
      for (int j = 0; j < neurons_; ++j) {
        sum = formulas::MulAdd(a[j], w[j], sum);
      }
      if (alone) {
        FinishUpper(layer, n, sum);
      } else {
        out[n] = sum;
      }
    }
    if (alone) {
      return;
    }
    MeetBlocks(args_.counters, step);
    AddUpParts(count);
    AskForNextRows();
    MeetBlocks(args_.counters + 1, step);
    for (int n = kFour * thread_; n < count; n += kFour * kNetworkThreads) {
      T sums[kFour];
      LoadFresh(sums, SlotOf(blocks) + n);
#pragma unroll 1
      for (int i = 0; i < kFour && n + i < count; ++i) {
        FinishUpper(layer, n + i, i == 0 ? sums[0] : i == 1 ? sums[1] : i == 2 ? sums[2] : sums[3]);
      }
    }
  }

  // Every block adds up what all have of its share of the sums. A warp has four of them at a time, a lane the parts of
  // every 32nd block. The order is always the same. Parts and sums may be overwritten once all have met again.
  static constexpr int kFour = 4;
  __device__ void AddUpParts(int count) {
    const int blocks = static_cast<int>(gridDim.x);
    const int fours = (count + kFour - 1) / kFour;
    const int share = (fours + blocks - 1) / blocks;
    const int first = static_cast<int>(blockIdx.x) * share;
    const int end = first + share < fours ? first + share : fours;
    for (int four = first + warp_; four < end; four += kNetworkThreads / kWarp) {
      T sums[kFour] = {};
#pragma unroll 4
      for (int block = lane_; block < blocks; block += kWarp) {
        T part[kFour];
        LoadFresh(part, SlotOf(block) + four * kFour);
#pragma unroll
        for (int i = 0; i < kFour; ++i) {
          sums[i] += part[i];
        }
      }
#pragma unroll
      for (int i = 0; i < kFour; ++i) {
        sums[i] = WarpSum(sums[i]);
      }
      if (lane_ < kFour) {
        SlotOf(blocks)[four * kFour + lane_] = lane_ == 0   ? sums[0]
                                               : lane_ == 1 ? sums[1]
                                               : lane_ == 2 ? sums[2]
                                                            : sums[3];
      }
    }
  }

  // The next step's rows come to the L2 cache while the blocks meet: each asks for some, by its last warp.
  __device__ void AskForNextRows() const {
    const int64_t next = first_sample_ + args_.batch;
    if (warp_ < kNetworkThreads / kWarp - 1) {
      return;
    }
    for (int64_t sample = next + blockIdx.x; sample < next + args_.batch && sample < args_.end; sample += gridDim.x) {
      const T* row = &args_.x.At(args_.order == nullptr ? sample : args_.order[sample], 0);
      for (int k = lane_ * kLine; k < args_.layers[0].inputs; k += kWarp * kLine) {
        AskFor(row + k);
      }
    }
  }
  static constexpr int kLine = 128 / sizeof(T);  // elements of a line of the cache

  // All blocks see from here on what each of them wrote before.
  __device__ void MeetBlocks(unsigned* counter, int step) {
    __syncthreads();
    if (thread_ == 0) {  // for all threads of the block, which it has met
      Fence();
      CountUp(counter);
      WaitUntil(counter, (static_cast<unsigned>(step) + 1) * gridDim.x);
    }
    __syncthreads();
  }

  __device__ void FinishUpper(const NetworkLayer<T>& layer, int n, T sum) {
    SetOutput(layer, n, layer.bias.value == nullptr ? sum : sum + shared_[layer.bias.at + n % layer.outputs]);
  }

  __device__ void ForwardUpper(int l) {
    const NetworkLayer<T>& layer = args_.layers[l];
    for (int n = thread_; n < rows_ * layer.outputs; n += kNetworkThreads) {
      const T* a = shared_ + args_.layers[l - 1].a + n / layer.outputs * layer.inputs;
      const T* w = shared_ + layer.weights.at + n % layer.outputs * layer.weight_stride;
      T sum = T(0);
      for (int k = 0; k < layer.inputs; ++k) {
        sum = formulas::MulAdd(a[k], w[k], sum);
      }
      FinishUpper(layer, n, sum);
    }
  }

  __device__ bool ComputeLoss() {
    const NetworkLayer<T>& layer = args_.layers[args_.layer_count - 1];
    const auto rows_at = [&](int at) { return Rows<const T>{at < 0 ? nullptr : shared_ + at, layer.outputs}; };
    DeviceLoss<T> loss{
        rows_at(layer.a), rows_at(layer.z), rows_at(args_.targets), {shared_ + layer.delta, layer.outputs}};
    loss.sample_weights = args_.sample_weights == nullptr ? nullptr : shared_ + args_.sample_weights_at;
    loss.rows = rows_;
    loss.cols = layer.outputs;
    loss.softmax = args_.softmax;
    loss.multiply_slope = args_.multiply_slope;
    loss.activation = layer.activation;
    loss.class_threshold = args_.class_threshold;
    loss.keep = args_.keep;
    loss.even = args_.even;
    const T mean = T(1) / static_cast<T>(rows_);
    LossSums sums;
    for (int row = thread_; row < rows_; row += kNetworkThreads) {
      if (args_.softmax) {
        SoftmaxOf(shared_ + layer.a + row * layer.outputs, layer.outputs);
      }
      T dot = T(0);
      VisitLoss(args_.loss, [&](const auto& formula) { dot = NarrowLoss(formula, loss, row, mean, sums); });
      NarrowSlope(loss, row, dot);
    }
    sums.loss = WarpSum(sums.loss);
    sums.weight = WarpSum(sums.weight);
    sums.correct = WarpSum(sums.correct);
    if (lane_ == 0) {
      head_.warps[warp_] = sums;
    }
    __syncthreads();
    if (thread_ == 0) {
      LossSums all;
      for (const LossSums& each : head_.warps) {
        AddLoss(each, all);
      }
      all.samples = rows_;
      AddLoss(all, head_.all);
      head_.finite = all.loss - all.loss == 0 ? 1 : 0;
    }
    __syncthreads();
    return head_.finite != 0;
  }

  __device__ static void SoftmaxOf(T* a, int count) {
    T largest = a[0];
    for (int i = 1; i < count; ++i) {
      largest = formulas::Max(a[i], largest);
    }
    T sum = T(0);
    for (int i = 0; i < count; ++i) {
      a[i] = formulas::Exp(a[i] - largest);
      sum += a[i];
    }
    for (int i = 0; i < count; ++i) {
      a[i] /= sum;
    }
  }

  // The delta of layer l - 1 by that of layer l.
  __device__ void DeltaBelow(int l) {
    const NetworkLayer<T>& layer = args_.layers[l];
    const NetworkLayer<T>& below = args_.layers[l - 1];
    const int inputs = InputsOf(l);
    for (int n = thread_; n < rows_ * inputs; n += kNetworkThreads) {
      const int at = n / inputs * below.stride + n % inputs;
      const T* delta = shared_ + layer.delta + n / inputs * layer.stride;
      const T* w = shared_ + layer.weights.at + n % inputs;
      T sum = T(0);
      for (int o = 0; o < layer.outputs; ++o) {
        sum = formulas::MulAdd(delta[o], w[o * layer.weight_stride], sum);
      }
      const T z = below.z < 0 ? T(0) : shared_[below.z + at];
      VisitActivation(below.activation, [&](const auto& formula) { sum *= formula.Slope(z, shared_[below.a + at]); });
      shared_[below.delta + at] = sum;
    }
  }

  __device__ void Update(const NetworkArray<T>& array, int n, T gradient, bool decay) {
    UpdateNumbers<T> now = numbers_;
    now.lambda = decay ? now.lambda : T(0);
    VisitUpdate(args_.rule, [&](auto update, auto states) {
      UpdateBy<decltype(update)>(now, array, n, gradient, std::make_index_sequence<decltype(states)::value>());
    });
  }
  template <class U, size_t... kState>
  __device__ void UpdateBy(const UpdateNumbers<T>& now, const NetworkArray<T>& array, int n, T gradient,
                           std::index_sequence<kState...>) {
    U::Step(now, gradient, shared_[array.at + n], shared_[array.state_at[kState] + n]...);
  }

  // Sums over the rows of delta times input.
  __device__ void UpdateUpper(int l) {
    const NetworkLayer<T>& layer = args_.layers[l];
    const NetworkLayer<T>& below = args_.layers[l - 1];
    const int inputs = InputsOf(l);
    ForSums(
        layer.outputs, inputs, layer.bias.value != nullptr,
        [&](int o, int k, int row) {
          return shared_[layer.delta + row * layer.stride + o] *
                 (k < inputs ? shared_[below.a + row * below.stride + k] : T(1));
        },
        [&](int o, int k, T sum) {
          if (k < inputs) {
            Update(layer.weights, o * layer.weight_stride + k, sum, /*decay=*/true);
          } else {
            Update(layer.bias, o, sum, /*decay=*/false);
          }
        });
  }

  // done(o, k, sum over the rows of term(o, k, row)) for o < outputs, k < inputs, and k = inputs for the bias. Where
  // there are few of them, some threads of a warp have each together.
  template <class Term, class Done>
  __device__ void ForSums(int outputs, int inputs, bool bias, const Term& term, const Done& done) {
    const int columns = inputs + (bias ? 1 : 0);
    const int sums = outputs * columns;
    int together = 1;
    while (together < kWarp && together < rows_ && 2 * together * sums <= kNetworkThreads) {
      together *= 2;
    }
    for (int first = 0; first < sums; first += kNetworkThreads / together) {
      const int n = first + thread_ / together;
      T sum = T(0);
      if (n < sums) {
        const int o = n / columns;
        const int k = n % columns;
#pragma unroll 4
        for (int row = thread_ % together; row < rows_; row += together) {
          sum += term(o, k, row);
        }
      }
      for (int mask = together / 2; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, mask);
      }
      if (n < sums && thread_ % together == 0) {
        done(n / columns, n % columns, sum);
      }
    }
  }

  const NetworkArgs<T>& args_;
  NetworkHead& head_;
  T* shared_;
  int thread_, lane_, warp_;
  int first_neuron_;
  int neurons_ = 0;
  int64_t first_sample_ = 0;
  int rows_ = 0;
  UpdateNumbers<T> numbers_{};
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
