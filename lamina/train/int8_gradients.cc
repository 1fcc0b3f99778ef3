// Loops over rows, a layer at a time. Sums of whole numbers are those of Int8Layer.
#include "lamina/train/int8_gradients.h"

#include <algorithm>

#include "lamina/base/check.h"

namespace lamina {
namespace {

constexpr int32_t kLeastTable = -128;
constexpr int32_t kMostWhole = 127;

// Whether an output of a hidden layer follows its sum.
bool IsInside(const Int8Layer& layer, int64_t neuron, int32_t sum) {
  switch (layer.finish) {
    case Int8Finish::kCorner: return true;  // above the corner the curve's slope is 0
    case Int8Finish::kTable: {
      const int32_t z = layer.Scaled(neuron, sum);
      return z >= kLeastTable && z <= kMostWhole;
    }
    default:  // below 0 the slope of relu is 0
      return layer.Scaled(neuron, sum) <= kMostWhole && (layer.low == 0 || layer.Scaled(neuron, sum) >= layer.low);
  }
}

// ∂term/∂weight of a distance; ∂term/∂input is its opposite.
template <class T>
T SlopeOfTerm(Synapse synapse, T x, T w) {
  return synapse == Synapse::kL1 ? static_cast<T>(w > x) - static_cast<T>(w < x) : 2 * (w - x);
}

}  // namespace

Int8Gradients::Int8Gradients(const Network& network, int64_t rows)
    : layers_(network.layers().size()),
      whole_(static_cast<size_t>(network.outputs())),
      outputs_(rows, network.outputs(), network.dtype()) {
  for (size_t l = 0; l < layers_.size(); ++l) {
    const LayerSpec& spec = network.layers()[l];
    Layer& layer = layers_[l];
    layer.x.resize(static_cast<size_t>(rows * spec.inputs));
    layer.inside.assign(static_cast<size_t>(rows * spec.outputs), 1);
    layer.values = Matrix(rows, spec.inputs, network.dtype());
    layer.weights = Matrix(spec.outputs, spec.inputs, network.dtype());
    layer.z = Matrix(rows, spec.outputs, network.dtype());
    layer.delta = Matrix(rows, spec.outputs, network.dtype());
    layer.curve = spec.trained_radius ? spec.activation.WithRadius(1) : spec.activation;
  }
}

ConstMatrixView Int8Gradients::Forward(const Network& network, const Int8Rounded& rounded, ConstMatrixView x) {
  Check(x.rows <= outputs_.rows(), "a batch fits into the room for it");
  network_ = &network;
  rounded_ = &rounded;
  rows_ = x.rows;
  DispatchFloat(network.dtype(), [&]<class T>(T) { ForwardRows<T>(x); });
  return outputs_.view().Rows(0, rows_);
}

template <class T>
void Int8Gradients::ForwardRows(ConstMatrixView x) {
  for (int64_t r = 0; r < rows_; ++r) {
    rounded_->network.Round(x.Row<T>(r), layers_[0].x.data() + r * x.cols);
  }
  for (size_t l = 0; l < layers_.size(); ++l) {
    ReadLayer<T>(l, rows_);
    ForwardLayer<T>(l, rows_);
  }
}

// What the whole numbers of a layer mean.
template <class T>
void Int8Gradients::ReadLayer(size_t l, int64_t rows) {
  Layer& layer = layers_[l];
  const Int8Layer& whole = rounded_->network.layers[l];
  const Int8Scales& scales = rounded_->scales[l];
  const bool products = whole.synapse == Synapse::kDot;
  for (int64_t j = 0; j < whole.outputs; ++j) {
    const int8_t* from = whole.weights.data() + j * whole.inputs;
    T* to = layer.weights.Row<T>(j);
    for (int64_t i = 0; i < whole.inputs; ++i) {
      const double step = scales.inputs[static_cast<size_t>(i)];
      to[i] = static_cast<T>(from[i] * (products ? scales.units[static_cast<size_t>(j)] / step : step));
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const int8_t* from = layer.x.data() + r * whole.inputs;
    T* to = layer.values.Row<T>(r);
    for (int64_t i = 0; i < whole.inputs; ++i) {
      to[i] = static_cast<T>(from[i] * scales.inputs[static_cast<size_t>(i)]);
    }
  }
  const auto outputs = static_cast<size_t>(whole.outputs);
  layer.radii.assign(outputs, 1);
  if (const T* radii = static_cast<const T*>(network_->Radii(l)); radii != nullptr) {
    layer.radii.assign(radii, radii + outputs);
  }
}

template <class T>
void Int8Gradients::ForwardLayer(size_t l, int64_t rows) {
  Layer& layer = layers_[l];
  const Int8Layer& whole = rounded_->network.layers[l];
  const Int8Scales& scales = rounded_->scales[l];
  const bool last = l + 1 == layers_.size();
  for (int64_t r = 0; r < rows; ++r) {
    const int8_t* x = layer.x.data() + r * whole.inputs;
    for (int64_t j = 0; j < whole.outputs; ++j) {
      const auto neuron = static_cast<size_t>(j);
      const int32_t sum = whole.SumOf(j, x);
      const int32_t offset = whole.finish == Int8Finish::kCorner ? 0 : whole.offsets[neuron];
      const double z = static_cast<double>(int64_t{sum} + offset) * scales.units[neuron] / layer.radii[neuron];
      layer.z.Row<T>(r)[j] = static_cast<T>(z + scales.centre);
      if (last) {
        whole_[neuron] = whole.Scaled(j, sum);
      } else {
        layers_[l + 1].x[static_cast<size_t>(r * whole.outputs + j)] = whole.HiddenOf(j, sum);
        layer.inside[static_cast<size_t>(r * whole.outputs + j)] = IsInside(whole, j, sum) ? 1 : 0;
      }
    }
    if (last) {
      rounded_->network.FinishOutputs(whole_);
      std::transform(whole_.begin(), whole_.end(), outputs_.Row<T>(r), [&](int32_t each) {
        return static_cast<T>(each) * static_cast<T>(rounded_->network.output_step);
      });
    }
  }
}

void Int8Gradients::Backward(ConstMatrixView delta, Network& gradient) {
  DispatchFloat(network_->dtype(), [&]<class T>(T) {
    for (int64_t r = 0; r < rows_; ++r) {
      std::copy_n(delta.Row<T>(r), delta.cols, layers_.back().delta.Row<T>(r));
    }
    for (size_t l = layers_.size(); l-- > 0;) {
      if (l + 1 < layers_.size()) {
        SlopesOf<T>(l);
      }
      LayerGradient<T>(l, gradient);
      if (l > 0) {
        DeltaBelow<T>(l);
      }
    }
  });
}

// From ∂E/∂output to ∂E/∂z.
template <class T>
void Int8Gradients::SlopesOf(size_t l) {
  Layer& layer = layers_[l];
  const int64_t outputs = layer.z.cols();
  std::vector<T> a(static_cast<size_t>(outputs));
  for (int64_t r = 0; r < rows_; ++r) {
    T* delta = layer.delta.Row<T>(r);
    layer.curve.Value(layer.z.Row<T>(r), a.data(), outputs);
    layer.curve.MultiplySlope(layer.z.Row<T>(r), a.data(), delta, outputs);
    for (int64_t j = 0; j < outputs; ++j) {
      delta[j] = layer.inside[static_cast<size_t>(r * outputs + j)] != 0 ? delta[j] : 0;
    }
  }
}

// Takes one row of weights after the other, while it is near. ∂E/∂z becomes ∂E/∂sum.
template <class T>
void Int8Gradients::LayerGradient(size_t l, Network& gradient) {
  Layer& layer = layers_[l];
  const Synapse synapse = rounded_->network.layers[l].synapse;
  const int64_t inputs = layer.values.cols();
  auto* const bias = static_cast<T*>(gradient.Bias(l));
  auto* const radii = static_cast<T*>(gradient.Radii(l));
  for (int64_t j = 0; j < layer.z.cols(); ++j) {
    T* const sums = gradient.Weights(l).Row<T>(j);
    const T* const w = layer.weights.Row<T>(j);
    std::fill_n(sums, inputs, T(0));
    T of_bias = 0;
    T of_radius = 0;
    for (int64_t r = 0; r < rows_; ++r) {
      T& delta = layer.delta.Row<T>(r)[j];
      delta /= static_cast<T>(layer.radii[static_cast<size_t>(j)]);
      const T* const x = layer.values.Row<T>(r);
      of_bias += delta;
      of_radius -= delta * layer.z.Row<T>(r)[j];
      if (delta == 0) {
        continue;
      }
      for (int64_t i = 0; i < inputs; ++i) {
        sums[i] += delta * (synapse == Synapse::kDot ? x[i] : SlopeOfTerm(synapse, x[i], w[i]));
      }
    }
    if (bias != nullptr) {
      bias[j] = of_bias;
    }
    if (radii != nullptr) {
      radii[j] = of_radius;
    }
  }
}

// ∂E/∂output of the layer below, from ∂E/∂sum.
template <class T>
void Int8Gradients::DeltaBelow(size_t l) {
  const Layer& layer = layers_[l];
  const Synapse synapse = rounded_->network.layers[l].synapse;
  const int64_t inputs = layer.values.cols();
  for (int64_t r = 0; r < rows_; ++r) {
    T* const below = layers_[l - 1].delta.Row<T>(r);
    const T* const x = layer.values.Row<T>(r);
    std::fill_n(below, inputs, T(0));
    for (int64_t j = 0; j < layer.z.cols(); ++j) {
      const T delta = layer.delta.Row<T>(r)[j];
      const T* const w = layer.weights.Row<T>(j);
      if (delta == 0) {
        continue;
      }
      for (int64_t i = 0; i < inputs; ++i) {
        below[i] += delta * (synapse == Synapse::kDot ? w[i] : -SlopeOfTerm(synapse, x[i], w[i]));
      }
    }
  }
}

}  // namespace lamina
