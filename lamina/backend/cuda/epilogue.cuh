// What happens to a finished sum: activation, slope, or update of a parameter. Visit(body) calls body(element) with
// element(row, col, sum), so that choices are made once a loop.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "lamina/backend/cuda/activation.cuh"
#include "lamina/backend/cuda/language.h"
#include "lamina/neuron/problem.h"
#include "lamina/neuron/update_rule.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// What changes from one recorded step to the next, in device memory.
struct LiveStep {
  UpdateRule rule;
  int64_t first = 0;  // sample of the order
  // The rule's numbers for parameters with decay, worked out once a step: Adam's powers in every thread of an update
  // would take longer than the update.
  UpdateNumbers<float> f32{};
  UpdateNumbers<double> f64{};

  template <class T>
  LAMINA_HD const UpdateNumbers<T>& Numbers() const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return f64;
    } else {
      return f32;
    }
  }
  LAMINA_HD void WorkOutNumbers() {
    VisitUpdate(rule, [&](auto update, auto) {
      f32 = NumbersOf<decltype(update), float>(rule, /*decay=*/true);
      f64 = NumbersOf<decltype(update), double>(rule, /*decay=*/true);
    });
  }
};

template <class T>
struct Rows {
  T* data = nullptr;  // null: absent
  int64_t stride = 0;
  __device__ T& At(int64_t row, int64_t col) const { return data[row * stride + col]; }
};

/// Finish of the synapse; those of PlainSum have none.
template <size_t kIndex = 0, class T>
__device__ inline T Finish(Synapse synapse, T sum) {
  if constexpr (kIndex < std::tuple_size_v<formulas::Synapses>) {
    using S = std::tuple_element_t<kIndex, formulas::Synapses>;
    if constexpr (!std::is_base_of_v<formulas::PlainSum, S>) {
      if (synapse == static_cast<Synapse>(kIndex)) {
        return S::Finish(sum);
      }
    }
    return Finish<kIndex + 1>(synapse, sum);
  } else {
    return sum;
  }
}

/// a = activation(z), z = finish(sum) + bias; whatever of the outputs is wanted.
template <class T, class S>
struct ForwardEpilogue {
  Rows<T> a, z, distance;
  Rows<S> sums;
  const T* bias = nullptr;
  Synapse synapse = Synapse::kDot;  // whose Finish it is
  DeviceActivation activation;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    VisitActivation(activation, [&](const auto& formula) {
      body([&](int64_t row, int64_t col, S sum) {
        if (sums.data != nullptr) {
          sums.At(row, col) = sum;
        }
        const T finished = Finish(synapse, static_cast<T>(sum));
        if (distance.data != nullptr) {
          distance.At(row, col) = finished;
        }
        const T value = bias == nullptr ? finished : finished + bias[col];
        if (z.data != nullptr) {
          z.At(row, col) = value;
        }
        if (a.data != nullptr) {
          a.At(row, col) = formula.Value(value);
        }
      });
    });
  }
};

/// out = sum times the slope of the activation of the layer before.
template <class T>
struct SlopeEpilogue {
  Rows<T> out;
  Rows<const T> a, z;  // of the layer before; z only where the slope reads it
  bool has_slope = false;
  DeviceActivation previous;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    if (!has_slope) {
      body([&](int64_t row, int64_t col, T sum) { out.At(row, col) = sum; });
      return;
    }
    VisitActivation(previous, [&](const auto& formula) {
      body([&](int64_t row, int64_t col, T sum) {
        const T input = z.data == nullptr ? T(0) : z.At(row, col);
        out.At(row, col) = sum * formula.Slope(input, a.At(row, col));
      });
    });
  }
};

/// The gradient is stored, or used for an update of the parameter and forgotten.
template <class T>
struct ParameterEpilogue {
  T* value = nullptr;
  T* gradient = nullptr;
  T* state[kMostStates] = {};
  int64_t cols = 0;
  bool update = false;  // else the gradient is stored
  bool decay = false;
  UpdateRule rule;
  UpdateNumbers<T> numbers{};      // of the rule
  const LiveStep* live = nullptr;  // instead of both

  template <class Body>
  __device__ void Visit(const Body& body) const {
    if (!update) {
      body([&](int64_t row, int64_t col, T sum) { gradient[row * cols + col] = sum; });
      return;
    }
    UpdateNumbers<T> now = live == nullptr ? numbers : live->Numbers<T>();
    now.lambda = decay ? now.lambda : T(0);
    VisitUpdate(live == nullptr ? rule : live->rule, [&](auto update, auto states) {
      using U = decltype(update);
      body([&](int64_t row, int64_t col, T sum) {
        Step<U>(now, row * cols + col, sum, std::make_index_sequence<decltype(states)::value>());
      });
    });
  }

  template <class U, size_t... kState>
  __device__ void Step(const UpdateNumbers<T>& now, int64_t n, T sum, std::index_sequence<kState...>) const {
    U::Step(now, sum, value[n], state[kState][n]...);
  }
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
