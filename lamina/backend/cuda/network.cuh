// A network of one wide layer and small ones above it, trained step after step without leaving the kernel. Every block
// keeps its neurons of the first layer with weights and state in shared memory. In a step it computes them for all rows
// of the batch, and its part of the second layer's sums. The blocks add these up in an order that is always the same.
// From there on every block computes the same: the layers above, loss and deltas. Then each updates what it has. The
// blocks wait for each other once a step.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/mma.cuh"
#include "lamina/backend/cuda/network.h"
#include "lamina/backend/cuda/network_base.cuh"
#include "lamina/backend/cuda/numbers.cuh"
#include "lamina/backend/cuda/slope.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Every lane has a part of 32 sums. It gets the sum with its own number, always added in the same order.
template <int kHalf = kWarp / 2, class T>
__device__ inline T SumOfLane(T (&sums)[kWarp]) {
  if constexpr (kHalf == 0) {
    return sums[0];
  } else {
    const bool upper = (static_cast<int>(threadIdx.x) & kHalf) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const T given = upper ? sums[i] : sums[i + kHalf];
      const T kept = upper ? sums[i + kHalf] : sums[i];
      sums[i] = kept + __shfl_xor_sync(0xFFFFFFFFU, given, kHalf);
    }
    return SumOfLane<kHalf / 2>(sums);
  }
}

/// kRounds: rows of x are rounded to bf16 as they come, and twice as many of them fit into shared memory.
template <class S, class T, bool kRounds>
class NetworkBlock : NetworkBase<T> {
 public:
  using NetworkBase<T>::NetworkBase;

  __device__ void Run() {
    if (thread_ == 0) {  // goes on from what is there: the same bits however steps are cut into calls
      head_.all = blockIdx.x == 0 ? *args_.sums : LossSums{};
    }
    this->template CopyParameters<false>();
    __syncthreads();
    int step = 0;
    bool finite = true;
    while (finite && step < args_.steps) {
      finite = Step(step);
      ++step;
    }
    this->template CopyParameters<true>();
    if (blockIdx.x == 0 && thread_ == 0) {
      *args_.sums = head_.all;
      *args_.progress = {step, finite};
    }
  }

 private:
  using Base = NetworkBase<T>;
  using Base::args_, Base::head_, Base::shared_, Base::thread_, Base::lane_, Base::warp_, Base::neurons_, Base::rows_;

  // One step; whether its loss is finite.
  __device__ bool Step(int step) {
    this->first_sample_ = args_.begin + int64_t{step} * args_.batch;
    const int64_t left = args_.end - this->first_sample_;
    rows_ = left < args_.batch ? static_cast<int>(left) : args_.batch;
    this->numbers_ = args_.numbers[step];
    this->FindRows();
    __syncthreads();
    this->GatherTargets();
    if (args_.vectors) {
      ForwardFirst<4>();
    } else {
      ForwardFirst<1>();
    }
    __syncthreads();
    this->ForwardSecond(step);
    for (int l = 2; l < args_.layer_count; ++l) {
      __syncthreads();
      this->ForwardUpper(l);
    }
    __syncthreads();
    const bool finite = this->ComputeLoss();
    for (int l = args_.layer_count - 1; l > 0; --l) {
      this->DeltaBelow(l);
      __syncthreads();
    }
    ScaleFirst();
    for (int l = 1; l < args_.layer_count; ++l) {
      this->UpdateUpper(l);
    }
    if (args_.vectors) {
      UpdateFirst<4>();
    } else {
      UpdateFirst<1>();
    }
    __syncthreads();
    return finite;
  }

  // A warp has some rows at a time, each lane every 32nd vector of their elements.
  template <int kVector>
  __device__ void ForwardFirst() {
    const NetworkLayer<T>& layer = args_.layers[0];
    for (int row = warp_ * kRowsTogether; row < rows_; row += kNetworkThreads / kWarp * kRowsTogether) {
      const T* x[kRowsTogether];
#pragma unroll
      for (int r = 0; r < kRowsTogether; ++r) {
        x[r] = &args_.x.At(this->RowOf(row + r < rows_ ? row + r : rows_ - 1), 0);
      }
      for (int first = 0; first < neurons_; first += kNeuronsTogether) {
        const T* weights = shared_ + layer.weights.at + first * layer.weight_stride;
        T sums[kWarp] = {};
#pragma unroll 2
        for (int k = lane_ * kVector; k < layer.inputs; k += kWarp * kVector) {
          T values[kRowsTogether][kVector];
#pragma unroll
          for (int r = 0; r < kRowsTogether; ++r) {
            LoadRow(values[r], x[r] + k);
            if (first == 0 && row + r < rows_ && row + r < args_.kept_rows) {
              Keep(row + r, k, values[r]);
            }
          }
#pragma unroll
          for (int j = 0; j < kNeuronsTogether; ++j) {
            T w[kVector];
            LoadShared<kVector>(w, weights + j * layer.weight_stride + k);
#pragma unroll
            for (int r = 0; r < kRowsTogether; ++r) {
#pragma unroll
              for (int v = 0; v < kVector; ++v) {
                T& sum = sums[r * kNeuronsTogether + j];
                sum = S::Term::Accumulate(values[r][v], w[v], sum);
              }
            }
          }
        }
        const T sum = SumOfLane(sums);
        const int of_lane = first + lane_ % kNeuronsTogether;
        if (row + lane_ / kNeuronsTogether < rows_ && of_lane < neurons_) {
          FinishFirst(row + lane_ / kNeuronsTogether, of_lane, sum);
        }
      }
    }
  }

  template <int kVector>
  __device__ static void LoadRow(T (&values)[kVector], const T* x) {
    LoadShared<kVector>(values, x);
    if constexpr (kRounds) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        values[v] = FloatOf(ToBFloat16s(values[v], 0) << 16);
      }
    }
  }

  // Elements before `row` and k in the rows kept. Rounded ones are two in a word, or bits by themselves.
  __device__ int PlaceKept(int row, int k) const { return row * args_.layers[0].weight_stride + k; }
  __device__ uint16_t* HalvesKept() const { return reinterpret_cast<uint16_t*>(shared_ + args_.kept); }

  template <int kVector>
  __device__ void Keep(int row, int k, const T (&values)[kVector]) {
    const int place = PlaceKept(row, k);
    if constexpr (!kRounds) {
      StoreShared(shared_ + args_.kept + place, values);
    } else if constexpr (kVector == 1) {
      HalvesKept()[place] = static_cast<uint16_t>(ToBFloat16s(values[0], 0));
    } else {
      const T words[] = {FloatOf(ToBFloat16s(values[0], values[1])), FloatOf(ToBFloat16s(values[2], values[3]))};
      StoreShared(shared_ + args_.kept + place / 2, words);
    }
  }

  template <int kVector>
  __device__ void LoadKept(T (&values)[kVector], int row, int k) const {
    const int place = PlaceKept(row, k);
    if constexpr (!kRounds) {
      LoadShared<kVector>(values, shared_ + args_.kept + place);
    } else if constexpr (kVector == 1) {
      values[0] = FloatOf(uint32_t{HalvesKept()[place]} << 16);
    } else {
      T words[2];
      LoadShared<2>(words, shared_ + args_.kept + place / 2);
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        uint32_t bits = 0;
        memcpy(&bits, &words[v / 2], sizeof(bits));
        values[v] = FloatOf(v % 2 == 0 ? bits << 16 : bits & 0xFFFF0000U);
      }
    }
  }

  __device__ void FinishFirst(int row, int neuron, T sum) {
    const NetworkLayer<T>& layer = args_.layers[0];
    const int n = row * layer.stride + neuron;
    const T finished = S::Finish(sum);
    if (layer.distance >= 0) {
      shared_[layer.distance + n] = finished;
    }
    this->SetOutput(layer, n, layer.bias.value == nullptr ? finished : finished + shared_[layer.bias.at + neuron]);
  }

  // The first layer's delta as its weights' gradient takes it.
  __device__ void ScaleFirst() {
    if constexpr (S::kScalesDelta) {
      const NetworkLayer<T>& layer = args_.layers[0];
      for (int n = thread_; n < rows_ * layer.stride; n += kNetworkThreads) {
        if (n % layer.stride < neurons_) {
          shared_[layer.scaled + n] =
              S::ScaleDelta(shared_[layer.delta + n], layer.distance < 0 ? T(0) : shared_[layer.distance + n]);
        }
      }
      __syncthreads();
    }
  }

  // A thread has a vector of inputs, and the sums of some neurons by it. Where there are few inputs, two threads take
  // half of the rows each.
  template <int kVector>
  __device__ void UpdateFirst() {
    const NetworkLayer<T>& layer = args_.layers[0];
    this->ForSums(
        neurons_, 0, layer.bias.value != nullptr,
        [&](int j, int, int row) { return shared_[layer.delta + row * layer.stride + j]; },
        [&](int j, int, T sum) { this->Update(layer.bias, j, sum, /*decay=*/false); });
    const int threads = kNetworkThreads / args_.gradient_parts;
    const int part = thread_ / threads;
    const int vectors = (layer.inputs + kVector - 1) / kVector;
    const int first_row = rows_ * part / args_.gradient_parts;
    const int row_end = rows_ * (part + 1) / args_.gradient_parts;
    for (int base = 0; base < vectors; base += threads) {
      const int vector = base + thread_ % threads;
      for (int first = 0; first < neurons_; first += kNeuronsTogether) {
        T sums[kNeuronsTogether][kVector] = {};
        T own[kNeuronsTogether][kVector] = {};
        const int place = layer.weights.at + first * layer.weight_stride + vector * kVector;
        if (vector < vectors) {
          if constexpr (S::Term::kIsDistance) {
#pragma unroll
            for (int j = 0; j < kNeuronsTogether; ++j) {
              LoadShared<kVector>(own[j], shared_ + place + j * layer.weight_stride);
            }
          }
          GradientOfRows(first_row, row_end, first, vector * kVector, own, sums);
        }
        if (args_.gradient_parts > 1) {
          AddParts(part, threads, sums);
        }
        if (part == 0 && vector < vectors) {
#pragma unroll 1
          for (int j = 0; j < neurons_ - first && j < kNeuronsTogether; ++j) {
            UpdateVector(layer.weights, place - layer.weights.at + j * layer.weight_stride, sums, j);
          }
        }
      }
    }
  }

  static constexpr int kRowsAhead = 8;
  template <int kVector>
  __device__ void GradientOfRows(int first_row, int row_end, int first, int k,
                                 const T (&own)[kNeuronsTogether][kVector], T (&sums)[kNeuronsTogether][kVector]) {
    const NetworkLayer<T>& layer = args_.layers[0];
    const T* scaled = shared_ + (layer.scaled < 0 ? layer.delta : layer.scaled) + first;
    const auto add = [&](int row, const T(&x)[kVector]) {
      T delta[kNeuronsTogether];
#pragma unroll
      for (int j = 0; j < kNeuronsTogether; j += 4) {
        T four[4];
        LoadShared<4>(four, scaled + row * layer.stride + j);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          delta[j + i] = four[i];
        }
      }
#pragma unroll
      for (int j = 0; j < kNeuronsTogether; ++j) {
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          sums[j][v] = Slope<typename S::Term, T>::Accumulate(delta[j], own[j][v], x[v], sums[j][v]);
        }
      }
    };
    int row = first_row;
    for (; row < row_end && row < args_.kept_rows; ++row) {
      T x[kVector];
      LoadKept(x, row, k);
      add(row, x);
    }
    for (; row < row_end; row += kRowsAhead) {  // some under way at once, as they come from far
      T x[kRowsAhead][kVector];
#pragma unroll
      for (int r = 0; r < kRowsAhead; ++r) {
        LoadRow(x[r], &args_.x.At(this->RowOf(row + r < row_end ? row + r : row), k));
      }
#pragma unroll
      for (int r = 0; r < kRowsAhead; ++r) {
        if (row + r < row_end) {
          add(row + r, x[r]);
        }
      }
    }
  }

  // The second half of the threads gives its sums to the first.
  template <int kVector>
  __device__ void AddParts(int part, int threads, T (&sums)[kNeuronsTogether][kVector]) {
    T* const parts = shared_ + args_.parts + thread_ % threads;
    __syncthreads();
    if (part == 1) {
#pragma unroll
      for (int n = 0; n < kNeuronsTogether * kVector; ++n) {
        parts[n * threads] = sums[n / kVector][n % kVector];
      }
    }
    __syncthreads();
    if (part == 0) {
#pragma unroll
      for (int n = 0; n < kNeuronsTogether * kVector; ++n) {
        sums[n / kVector][n % kVector] += parts[n * threads];
      }
    }
  }

  template <int kVector>
  __device__ void UpdateVector(const NetworkArray<T>& array, int n, const T (&sums)[kNeuronsTogether][kVector], int j) {
    T gradient[kVector] = {};
#pragma unroll
    for (int i = 0; i < kNeuronsTogether; ++i) {  // registers have no numbers that a program could work out
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        gradient[v] = i == j ? sums[i][v] : gradient[v];
      }
    }
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      this->Update(array, n + v, gradient[v], /*decay=*/true);
    }
  }
};

template <class S, class T, bool kRounds>
__global__ void __launch_bounds__(kNetworkThreads, 1) NetworkKernel(NetworkArgs<T> args) {
  NetworkBlock<S, T, kRounds>(args, &SharedAs<NetworkHead>()).Run();
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
