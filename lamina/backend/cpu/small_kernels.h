// The border between a small network and its vector kernels: a layer with everything it needs as plain values.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "lamina/backend/cpu/kernels.h"

namespace lamina::cpu {

/// A layer of a small network. Weights lie as they are (outputs × inputs) or transposed (inputs × outputs), rows padded
/// to whole vectors with zeros. Rows of a batch are padded, too, with anything. Results are the same for any part of
/// the samples, or of a gradient's tiles, asked for at once.
template <class T>
struct SmallLayer {
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool turned = false;
  int64_t stride = 0;        // of the weights
  T* turned_copy = nullptr;  // of weights as they are, for forward: inputs × copy_stride; null: none
  int64_t copy_stride = 0;
  int64_t x_stride = 0;      // of the inputs
  int64_t batch_stride = 0;  // of a, z, distance and delta
  T* a = nullptr;
  T* z = nullptr;         // only where the slope reads it
  T* distance = nullptr;  // only where the synapse needs it
  T* delta = nullptr;
  T* scaled = nullptr;      // the delta as the gradients of such a synapse take it, else null
  ParameterArrays weights;  // gradients only where a batch has two halves
  ParameterArrays bias;     // padded; all null for a layer without
  T* more = nullptr;        // gradients of the second half
  T* bias_more = nullptr;
  const Activation* activation = nullptr;

  /// The same for samples from `row` of the batch on.
  SmallLayer From(int64_t row) const {
    SmallLayer part = *this;
    for (T** const array : {&part.a, &part.z, &part.distance, &part.delta, &part.scaled}) {
      *array = *array == nullptr ? nullptr : *array + row * batch_stride;
    }
    return part;
  }
};

/// What a step gives every layer.
template <class T>
struct SmallStep {
  int64_t batch = 0;
  const UpdateRule* rule = nullptr;  // null: gradients are stored
  UpdateNumbers<T> weight_update;
  UpdateNumbers<T> bias_update;
};

/// The passes of one synapse.
template <class T>
struct SmallPasses {
  int64_t sample_rows;    // threads part a batch at multiples of so many samples
  int64_t gradient_rows;  // of a tile of the weights' gradient
  void (*forward)(const SmallLayer<T>&, const T* x, int64_t batch) noexcept;
  /// `scaled`, where the synapse has that.
  void (*scale)(const SmallLayer<T>&, int64_t batch) noexcept;
  /// The delta of `before`, its slope included.
  void (*input_gradient)(const SmallLayer<T>&, const SmallLayer<T>& before, int64_t batch) noexcept;
  /// Updates by the tiles [begin, end) of the weights' gradient, which go down each tile_vectors of columns; the tile
  /// after the last is the bias.
  void (*weight_gradient)(const SmallLayer<T>&, const T* x, const SmallStep<T>&, int64_t begin, int64_t end) noexcept;
};

template <class T>
struct SmallTable {
  const char* target;
  int64_t lanes;
  /// Adds the gradients of both halves of a batch and updates by them. Rows [begin, end) of the weights as they lie are
  /// updated, and the bias along with the last ones.
  void (*update_by_halves)(const SmallLayer<T>&, const SmallStep<T>&, int64_t begin, int64_t end) noexcept;
  int64_t tile_vectors;  // of a tile of the weights' gradient
  /// to[c * to_stride + r] = from[r * from_stride + c]
  void (*turn)(const T* from, int64_t from_stride, int64_t rows, int64_t columns, T* to, int64_t to_stride);
  std::array<SmallPasses<T>, std::tuple_size_v<formulas::Synapses>> synapses;
};

/// The kernels for the best instruction set of this CPU.
template <class T>
const SmallTable<T>& SmallKernels();
template <>
const SmallTable<float>& SmallKernels<float>();
template <>
const SmallTable<double>& SmallKernels<double>();

}  // namespace lamina::cpu
