// What happens to finished sums: activation, slope, or update of a parameter. Visit(body) calls body(element) with
// element(row, col, count, sums), so that choices are made once a loop: `sums` is an array of neighbors in a row, from
// a multiple of their number on, of which the first `count` are there.
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
  int64_t first = 0;              // sample of the order
  const double* rates = nullptr;  // the learning rate of this step, before those of the next ones; null: the rule's
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

/// Sums of type S that a thread has at once: a vector of f32, read and written as one where it may be.
template <class S>
inline constexpr int kTogether = std::is_same_v<S, float> ? 4 : 1;

/// Whether vectors of kTogether<T> numbers may be read from there.
template <class T>
inline bool IsWide(const T* data, int64_t stride) {
  constexpr int kCount = kTogether<std::remove_const_t<T>>;
  return reinterpret_cast<uintptr_t>(data) % (kCount * sizeof(T)) == 0 && stride % kCount == 0;
}

template <class T>
struct Rows {
  T* data = nullptr;  // null: absent
  int64_t stride = 0;
  bool wide = false;  // IsWide()
  __device__ T& At(int64_t row, int64_t col) const { return data[row * stride + col]; }

  /// The first `count` of kCount neighbors; the others become 0.
  template <int kCount>
  __device__ void Load(int64_t row, int64_t col, int count, std::remove_const_t<T> (&to)[kCount]) const {
    const T* from = &At(row, col);
    if constexpr (kCount == 1) {
      to[0] = *from;
    } else if (wide && count == kCount) {
      RequireAligned<kCount>(from);
      const auto pack = *reinterpret_cast<const Pack<kCount>*>(from);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        to[i] = pack.values[i];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        to[i] = i < count ? from[i] : T(0);
      }
    }
  }
  template <int kCount>
  __device__ void Store(int64_t row, int64_t col, int count, const T (&from)[kCount]) const {
    T* to = &At(row, col);
    if constexpr (kCount == 1) {
      *to = from[0];
    } else if (wide && count == kCount) {
      StoreGlobal(to, from);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i < count) {
          to[i] = from[i];
        }
      }
    }
  }

 private:
  template <int kCount>
  struct alignas(kCount * sizeof(T)) Pack {
    std::remove_const_t<T> values[kCount];
  };
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

/// One sum to an element.
template <class Element, class S>
__device__ inline void ForOne(const Element& element, int64_t row, int64_t col, S sum) {
  const S sums[1] = {sum};
  element(row, col, 1, sums);
}

/// a = activation(z), z = finish(sum) + bias; whatever of the outputs is wanted. Where there are norms, the sums given
/// are dot products, and those of squared differences are made of them.
template <class T, class S>
struct ForwardEpilogue {
  Rows<T> a, z, distance;
  Rows<S> sums;
  Rows<const T> bias;                  // a single row
  Rows<const S> row_norms, col_norms;  // squared, of both operands' lines; each a single row
  Synapse synapse = Synapse::kDot;     // whose Finish it is
  DeviceActivation activation;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    VisitActivation(activation, [&](const auto& formula) {
      body([&]<int kCount>(int64_t row, int64_t col, int count, const S(&given)[kCount]) {
        S terms[kCount];
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          terms[i] = given[i];
        }
        if constexpr (std::is_same_v<S, float>) {
          if (row_norms.data != nullptr) {
            SquaredDifferences(row, col, count, terms);
          }
        }
        if (sums.data != nullptr) {
          sums.Store(row, col, count, terms);
        }
        T values[kCount];
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          values[i] = Finish(synapse, static_cast<T>(terms[i]));
        }
        if (distance.data != nullptr) {
          distance.Store(row, col, count, values);
        }
        if (bias.data != nullptr) {
          T shift[kCount];
          bias.Load(0, col, count, shift);
#pragma unroll
          for (int i = 0; i < kCount; ++i) {
            values[i] += shift[i];
          }
        }
        if (z.data != nullptr) {
          z.Store(row, col, count, values);
        }
        if (a.data != nullptr) {
#pragma unroll
          for (int i = 0; i < kCount; ++i) {
            values[i] = formula.Value(values[i]);
          }
          a.Store(row, col, count, values);
        }
      });
    });
  }

 private:
  // |x|^2 + |w|^2 - 2 x w, which rounding may have made less than 0; a NaN stays.
  template <int kCount>
  __device__ void SquaredDifferences(int64_t row, int64_t col, int count, S (&terms)[kCount]) const {
    const S own = row_norms.data[row];
    S others[kCount];
    col_norms.Load(0, col, count, others);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const S squared = own + others[i] - S(2) * terms[i];
      terms[i] = squared < S(0) ? S(0) : squared;
    }
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
      body([&](int64_t row, int64_t col, int count, const auto& sums) { out.Store(row, col, count, sums); });
      return;
    }
    VisitActivation(previous, [&](const auto& formula) {
      body([&]<int kCount>(int64_t row, int64_t col, int count, const T(&sums)[kCount]) {
        T inputs[kCount] = {};
        if (z.data != nullptr) {
          z.Load(row, col, count, inputs);
        }
        T values[kCount];
        a.Load(row, col, count, values);
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          values[i] = sums[i] * formula.Slope(inputs[i], values[i]);
        }
        out.Store(row, col, count, values);
      });
    });
  }
};

/// The gradient is stored, or used for an update of the parameter and forgotten.
template <class T>
struct ParameterEpilogue {
  Rows<T> value, gradient;
  Rows<T> state[kMostStates] = {};
  bool update = false;  // else the gradient is stored
  bool decay = false;
  UpdateRule rule;
  UpdateNumbers<T> numbers{};      // of the rule
  const LiveStep* live = nullptr;  // instead of both

  template <class Body>
  __device__ void Visit(const Body& body) const {
    if (!update) {
      body([&](int64_t row, int64_t col, int count, const auto& sums) { gradient.Store(row, col, count, sums); });
      return;
    }
    UpdateNumbers<T> now = numbers;
    if (live != nullptr) {  // recorded with a learning rate of 1: the rule has the parameter's share of it
      now = live->Numbers<T>();
      const T share = static_cast<T>(rule.learning_rate);
      now.eta *= share;
      now.rate *= share;
    }
    now.lambda = decay ? now.lambda : T(0);
    VisitUpdate(live == nullptr ? rule : live->rule, [&](auto update, auto states) {
      using U = decltype(update);
      body([&]<int kCount>(int64_t row, int64_t col, int count, const T(&sums)[kCount]) {
        Step<U>(now, row, col, count, sums, std::make_index_sequence<decltype(states)::value>());
      });
    });
  }

  template <class U, int kCount, size_t... kState>
  __device__ void Step(const UpdateNumbers<T>& now, int64_t row, int64_t col, int count, const T (&sums)[kCount],
                       std::index_sequence<kState...>) const {
    T values[kCount];
    T states[sizeof...(kState) + 1][kCount];  // one more than there are: an array cannot be empty
    value.Load(row, col, count, values);
    (state[kState].Load(row, col, count, states[kState]), ...);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      U::Step(now, sums[i], values[i], states[kState][i]...);
    }
    value.Store(row, col, count, values);
    (state[kState].Store(row, col, count, states[kState]), ...);
  }
};

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
