// Scales by what rows of a network's inputs make of its layers.
#include "lamina/model/int8_rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lamina/base/error.h"
#include "lamina/neuron/formulas.h"

namespace lamina {
namespace {

constexpr double kMostRounded = 127;
constexpr double kLogitSteps = 1024;
constexpr double kShares = 32768;
constexpr double kNumberSteps = 1 << 20;  // of the largest number of a regression
constexpr double kLargest32 = 2147483647.0;

using LayerRows = std::vector<std::vector<double>>;

bool IsActivation(const Activation& activation, const char* name) {
  return activation.kind() != Activation::kCustom && activation.name() == name;
}

[[noreturn]] void RefuseInt8(const std::string& what) {
  throw Error(ErrorCode::kUnsupported, fmt::format("8-bit integers cannot do {}", what),
              {.remedy = "Leave --int8 out; --weights i8 keeps the weights in 8 bits."});
}

void RequireInt8(const Network& network) {
  if (network.members() > 1) {
    RefuseInt8("networks of members");
  }
  for (const LayerSpec& layer : network.layers()) {
    if (layer.residual > 0) {
      RefuseInt8("residual blocks");
    }
    if (layer.synapse == Synapse::kL2) {
      RefuseInt8("l2 distances, which are roots");
    }
    const double largest_term = layer.synapse == Synapse::kL2Squared ? 254.0 * 254.0 : 127.0 * 127.0;
    if (static_cast<double>(layer.inputs) * largest_term > kLargest32 / 2) {
      RefuseInt8(fmt::format("layers of {} inputs", layer.inputs));
    }
  }
  const Activation& last = network.layers().back().activation;
  if (!last.is_softmax() && !IsActivation(last, formulas::Sigmoid::kName) &&
      !IsActivation(last, formulas::Identity::kName)) {
    RefuseInt8(fmt::format("outputs of the activation {}", last.name()));
  }
}

double LargestOf(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

double StepOf(double largest) { return largest > 0 ? largest / kMostRounded : 1; }

// A network's layer in double, and what its rows make of it.
class LayerMeasure {
 public:
  LayerMeasure(const Network& network, size_t layer) : spec_(network.layers()[layer]) {
    const auto copy = [&](const void* from, int64_t count) {
      std::vector<double> values;
      DispatchFloat(network.dtype(), [&]<class T>(T) {
        values.assign(static_cast<const T*>(from), static_cast<const T*>(from) + count);
      });
      return values;
    };
    for (int64_t j = 0; j < spec_.outputs; ++j) {
      weights.push_back(copy(network.Weights(layer).Rows(j, 1).data, spec_.inputs));
    }
    bias = network.Bias(layer) == nullptr ? std::vector<double>(weights.size(), 0)
                                          : copy(network.Bias(layer), spec_.outputs);
    radii = network.Radii(layer) == nullptr ? std::vector<double>(weights.size(), 1)
                                            : copy(network.Radii(layer), spec_.outputs);
    curve = spec_.trained_radius ? spec_.activation.WithRadius(1) : spec_.activation;
  }

  // z of every neuron: what goes into the curve.
  LayerRows Sums(const LayerRows& rows) const {
    LayerRows sums;
    for (const std::vector<double>& x : rows) {
      std::vector<double>& z = sums.emplace_back();
      for (size_t j = 0; j < weights.size(); ++j) {
        double sum = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          const double difference = x[i] - weights[j][i];
          sum += spec_.synapse == Synapse::kDot  ? x[i] * weights[j][i]
                 : spec_.synapse == Synapse::kL1 ? std::abs(difference)
                                                 : difference * difference;
        }
        z.push_back((sum + bias[j]) / radii[j]);
      }
    }
    return sums;
  }
  LayerRows Curves(LayerRows sums) const {
    for (std::vector<double>& z : sums) {
      curve.Value(z.data(), z.data(), std::ssize(z));
    }
    return sums;
  }

  const LayerSpec& spec() const { return spec_; }
  std::vector<std::vector<double>> weights;
  std::vector<double> bias;
  std::vector<double> radii;
  Activation curve;

 private:
  const LayerSpec& spec_;
};

// The weights of a layer whose inputs have `steps`; what a sum's unit is of each neuron.
std::vector<double> RoundLayer(const LayerMeasure& layer, std::span<const double> steps, Int8Layer& made) {
  std::vector<double> units;
  for (size_t j = 0; j < layer.weights.size(); ++j) {
    std::vector<double> scaled = layer.weights[j];
    double unit = 1;
    if (layer.spec().synapse == Synapse::kDot) {
      std::transform(scaled.begin(), scaled.end(), steps.begin(), scaled.begin(), std::multiplies<>());
      unit = std::max({StepOf(LargestOf(scaled)), std::abs(layer.bias[j]) / 1e9, 1e-30});
      units.push_back(unit);
    } else {  // one step for all, of the weights, too
      unit = steps[0];
      units.push_back(layer.spec().synapse == Synapse::kL1 ? unit : unit * unit);
    }
    for (const double weight : scaled) {
      made.weights.push_back(
          static_cast<int8_t>(std::clamp(std::floor(weight / unit + 0.5), -kMostRounded, kMostRounded)));
    }
  }
  return units;
}

// factors and shift of numbers that sums are multiplied by; offsets of numbers that are added to a sum before.
void SetFactors(std::span<const double> factors, std::span<const double> added, Int8Layer& made) {
  const double largest = std::max(LargestOf(factors), 1e-30);
  made.shift = std::clamp(30 - static_cast<int>(std::ceil(std::log2(largest))), 1, 62);
  for (size_t j = 0; j < factors.size(); ++j) {
    made.factors.push_back(static_cast<int32_t>(std::lround(std::ldexp(factors[j], made.shift))));
    made.offsets.push_back(static_cast<int32_t>(std::clamp(std::floor(added[j] + 0.5), -1e9, 1e9)));
  }
}

// Subtractions, absolute values, additions and a shift. The steps of the outputs, each neuron its own.
std::vector<double> FinishByCorner(const LayerMeasure& layer, std::span<const double> units, Int8Layer& made) {
  std::vector<double> corners;
  for (size_t j = 0; j < units.size(); ++j) {
    corners.push_back(formulas::Triangle::kWidth * layer.curve.radius() * layer.radii[j] / units[j]);
    made.offsets.push_back(static_cast<int32_t>(std::clamp(std::floor(corners[j] + 0.5), 0.0, 1e9)));
  }
  while (*std::max_element(made.offsets.begin(), made.offsets.end()) >> made.shift >
         static_cast<int32_t>(kMostRounded)) {
    ++made.shift;
  }
  std::vector<double> steps;
  std::transform(corners.begin(), corners.end(), std::back_inserter(steps),
                 [&](double corner) { return std::ldexp(1, made.shift) / corner; });
  made.finish = Int8Finish::kCorner;
  return steps;
}

// One step for all outputs.
double FinishHidden(const LayerMeasure& layer, const Int8Ranges::Layer& range, Int8Scales& scales, Int8Layer& made) {
  const double step = StepOf(range.largest);
  std::vector<double> factors, added;
  const bool relu = IsActivation(layer.curve, formulas::Relu::kName);
  double z_step = step;
  if (!relu && !IsActivation(layer.curve, formulas::Identity::kName)) {
    scales.centre = (range.low + range.high) / 2;
    z_step = std::max((range.high - range.low) / 254, 1e-30);
    made.finish = Int8Finish::kTable;
    for (int z = -128; z <= 127; ++z) {
      double value = scales.centre + z * z_step;
      layer.curve.Value(&value, &value, 1);
      made.table.push_back(
          static_cast<int8_t>(std::clamp(std::floor(value / step + 0.5), -kMostRounded, kMostRounded)));
    }
  }
  made.low = relu ? 0 : -static_cast<int32_t>(kMostRounded);
  for (size_t j = 0; j < scales.units.size(); ++j) {
    factors.push_back(scales.units[j] / layer.radii[j] / z_step);
    added.push_back((layer.bias[j] - scales.centre * layer.radii[j]) / scales.units[j]);
  }
  SetFactors(factors, added, made);
  return step;
}

double FinishLast(const LayerMeasure& layer, const Int8Ranges::Layer& range, std::span<const double> units,
                  Int8Layer& made) {
  double z_step = 1 / kLogitSteps;
  double step = 1 / kShares;
  if (layer.curve.is_softmax()) {
    made.finish = Int8Finish::kSoftmax;
  } else if (IsActivation(layer.curve, formulas::Sigmoid::kName)) {
    made.finish = Int8Finish::kSigmoid;
  } else {
    z_step = step = std::max(range.largest, 1e-30) / kNumberSteps;
    made.finish = Int8Finish::kNumbers;
  }
  std::vector<double> factors, added;
  for (size_t j = 0; j < units.size(); ++j) {
    factors.push_back(units[j] / layer.radii[j] / z_step);
    added.push_back(layer.bias[j] / units[j]);
  }
  SetFactors(factors, added, made);
  return step;
}

// The largest weight of a layer of distances, whose step is that of its inputs; 0 of a layer of products.
double LargestCentre(const Network& network, size_t layer) {
  if (layer >= network.layers().size() || network.layers()[layer].synapse == Synapse::kDot) {
    return 0;
  }
  double largest = 0;
  for (const std::vector<double>& row : LayerMeasure(network, layer).weights) {
    largest = std::max(largest, LargestOf(row));
  }
  return largest;
}

std::vector<double> InputSteps(const Network& network, const LayerRows& rows) {
  std::vector<double> largest(static_cast<size_t>(network.inputs()), 0);
  for (const std::vector<double>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      largest[i] = std::max(largest[i], std::abs(row[i]));
    }
  }
  if (network.layers()[0].synapse != Synapse::kDot) {
    std::fill(largest.begin(), largest.end(), std::max(LargestOf(largest), LargestCentre(network, 0)));
  }
  std::transform(largest.begin(), largest.end(), largest.begin(), [&](double each) {
    const double step = StepOf(each);
    return network.dtype() == DType::kF64 ? step : static_cast<double>(static_cast<float>(step));
  });
  return largest;
}

LayerRows RowsOf(const Matrix& features) {
  LayerRows rows;
  DispatchFloat(features.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < features.rows(); ++i) {
      rows.emplace_back(features.Row<T>(i), features.Row<T>(i) + features.cols());
    }
  });
  return rows;
}

bool IsProductsNext(const Network& network, size_t layer) {
  return layer + 1 < network.layers().size() && network.layers()[layer + 1].synapse == Synapse::kDot;
}

Int8Ranges::Layer RangeOf(const LayerRows& numbers) {
  Int8Ranges::Layer range{0, std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  for (const std::vector<double>& row : numbers) {
    range.largest = std::max(range.largest, LargestOf(row));
    range.low = std::min(range.low, *std::min_element(row.begin(), row.end()));
    range.high = std::max(range.high, *std::max_element(row.begin(), row.end()));
  }
  return range;
}

}  // namespace

Int8Ranges MeasureForInt8(const Network& network, const Matrix& features, const Matrix& bounds) {
  RequireInt8(network);
  LayerRows rows = RowsOf(features);
  if (rows.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "8-bit integers are measured on rows, and there are none");
  }
  Int8Ranges ranges;
  LayerRows all = rows;
  const LayerRows others = RowsOf(bounds);
  all.insert(all.end(), others.begin(), others.end());
  ranges.input_steps = InputSteps(network, all);
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerMeasure layer(network, l);
    LayerRows sums = layer.Sums(rows);
    Int8Ranges::Layer range = RangeOf(sums);
    if (l + 1 < network.layers().size()) {
      rows = layer.Curves(std::move(sums));
      // A layer of distances behind has weights of the same step.
      range.largest = RangeOf(rows).largest;
      if (!IsProductsNext(network, l)) {
        range.largest = std::max(range.largest, StepOf(LargestCentre(network, l + 1)) * kMostRounded);
      }
    }
    ranges.layers.push_back(range);
  }
  return ranges;
}

Int8Rounded RoundToInt8(const Network& network, const Int8Ranges& ranges) {
  RequireInt8(network);
  Int8Rounded made;
  made.network.input_steps = ranges.input_steps;
  std::vector<double> steps = ranges.input_steps;
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerMeasure layer(network, l);
    const LayerSpec& spec = layer.spec();
    Int8Layer& rounded = made.network.layers.emplace_back();
    rounded.inputs = spec.inputs;
    rounded.outputs = spec.outputs;
    rounded.synapse = spec.synapse;
    rounded.activation = spec.activation;
    Int8Scales& scales = made.scales.emplace_back();
    scales.units = RoundLayer(layer, steps, rounded);
    scales.inputs = std::move(steps);
    if (l + 1 == network.layers().size()) {
      const double step = FinishLast(layer, ranges.layers[l], scales.units, rounded);
      made.network.output_step = network.dtype() == DType::kF64 ? step : static_cast<double>(static_cast<float>(step));
    } else if (IsProductsNext(network, l) && spec.synapse == Synapse::kL1 && !spec.bias &&
               IsActivation(layer.curve, formulas::Triangle::kName)) {
      steps = FinishByCorner(layer, scales.units, rounded);
    } else {
      steps.assign(layer.weights.size(), FinishHidden(layer, ranges.layers[l], scales, rounded));
    }
  }
  return made;
}

}  // namespace lamina
