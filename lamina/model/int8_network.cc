// Whole numbers from inputs to outputs.
#include "lamina/model/int8_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace lamina {
namespace {

constexpr int32_t kMostInt8 = 127;
constexpr int32_t kWholeShare = 32768;   // a whole share of softmax and sigmoid
constexpr uint32_t kWholePower = 65536;  // of powers
constexpr uint32_t kRestSteps = 64;      // steps of a whole exponent
constexpr int32_t kStepsOfPower = 16;    // z of softmax has 1024 steps, powers 64

// Each synapse has a loop of its own, which compilers make vectors of.
template <class Term>
int32_t SumOfTerms(const int8_t* x, const int8_t* w, int64_t count, Term term) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += term(static_cast<int32_t>(x[i]), static_cast<int32_t>(w[i]));
  }
  return sum;
}

void SoftmaxOfIntegers(std::span<int32_t> z) {
  const Int8Powers powers = MakeInt8Powers();
  const int32_t most = *std::max_element(z.begin(), z.end());
  uint32_t sum = 0;
  for (int32_t& each : z) {
    const uint32_t power = PowerOf(powers, static_cast<uint32_t>(most - each) / kStepsOfPower);
    each = static_cast<int32_t>(power);
    sum += power;
  }
  for (int32_t& each : z) {
    each = static_cast<int32_t>(static_cast<uint64_t>(each) * kWholeShare / sum);
  }
}

int32_t SigmoidOfInteger(int32_t z) {
  const uint32_t power = PowerOf(MakeInt8Powers(), static_cast<uint32_t>(std::abs(z)) / kStepsOfPower);
  const auto share = static_cast<int32_t>(kWholePower * static_cast<uint32_t>(kWholeShare) / (kWholePower + power));
  return z < 0 ? kWholeShare - share : share;
}

}  // namespace

Int8Powers MakeInt8Powers() {
  Int8Powers powers;
  for (int whole = 0; whole < 12; ++whole) {
    powers.whole.push_back(static_cast<uint32_t>(std::lround(kWholePower * std::exp(-whole))));
  }
  for (uint32_t rest = 0; rest < kRestSteps; ++rest) {
    powers.rest.push_back(
        static_cast<uint32_t>(std::lround(kWholePower * std::exp(-static_cast<double>(rest) / kRestSteps))));
  }
  return powers;
}

uint32_t PowerOf(const Int8Powers& powers, uint32_t steps) {
  const uint32_t whole = steps / kRestSteps;
  if (whole >= powers.whole.size()) {
    return 0;
  }
  return static_cast<uint32_t>(static_cast<uint64_t>(powers.whole[whole]) * powers.rest[steps % kRestSteps] /
                               kWholePower);
}

int32_t Int8Layer::SumOf(int64_t neuron, const int8_t* x) const {
  const int8_t* w = weights.data() + neuron * inputs;
  switch (synapse) {
    case Synapse::kDot: return SumOfTerms(x, w, inputs, [](int32_t a, int32_t b) { return a * b; });
    case Synapse::kL1: return SumOfTerms(x, w, inputs, [](int32_t a, int32_t b) { return std::abs(a - b); });
    default: return SumOfTerms(x, w, inputs, [](int32_t a, int32_t b) { return (a - b) * (a - b); });
  }
}

int32_t Int8Layer::Scaled(int64_t neuron, int32_t sum) const {
  const auto j = static_cast<size_t>(neuron);
  const int64_t product = (int64_t{sum} + offsets[j]) * factors[j];
  return static_cast<int32_t>((product + (int64_t{1} << (shift - 1))) >> shift);
}

int8_t Int8Layer::HiddenOf(int64_t neuron, int32_t sum) const {
  if (finish == Int8Finish::kCorner) {
    const int32_t rest = offsets[static_cast<size_t>(neuron)] - sum;
    return static_cast<int8_t>(rest > 0 ? rest >> shift : 0);
  }
  const int32_t z = Scaled(neuron, sum);
  if (finish == Int8Finish::kClamped) {
    return static_cast<int8_t>(std::clamp(z, low, kMostInt8));
  }
  return table[static_cast<size_t>(std::clamp(z, -128, kMostInt8) + int64_t{128})];
}

template <class T>
void Int8Network::Round(const T* x, int8_t* numbers) const {
  for (size_t i = 0; i < input_steps.size(); ++i) {
    const T whole = std::floor(x[i] / static_cast<T>(input_steps[i]) + T(0.5));
    numbers[i] = static_cast<int8_t>(std::clamp(whole, static_cast<T>(-kMostInt8), static_cast<T>(kMostInt8)));
  }
}
template void Int8Network::Round(const float* x, int8_t* numbers) const;
template void Int8Network::Round(const double* x, int8_t* numbers) const;

void Int8Network::Answer(std::span<const int8_t> numbers, std::span<int32_t> outputs) const {
  std::vector<int8_t> x(numbers.begin(), numbers.end());
  for (size_t l = 0; l + 1 < layers.size(); ++l) {
    const Int8Layer& layer = layers[l];
    std::vector<int8_t> a(static_cast<size_t>(layer.outputs));
    for (int64_t j = 0; j < layer.outputs; ++j) {
      a[static_cast<size_t>(j)] = layer.HiddenOf(j, layer.SumOf(j, x.data()));
    }
    x = std::move(a);
  }
  const Int8Layer& last = layers.back();
  for (int64_t j = 0; j < last.outputs; ++j) {
    outputs[static_cast<size_t>(j)] = last.Scaled(j, last.SumOf(j, x.data()));
  }
  FinishOutputs(outputs);
}

void Int8Network::FinishOutputs(std::span<int32_t> outputs) const {
  if (layers.back().finish == Int8Finish::kSoftmax) {
    SoftmaxOfIntegers(outputs);
  } else if (layers.back().finish == Int8Finish::kSigmoid) {
    std::transform(outputs.begin(), outputs.end(), outputs.begin(), &SigmoidOfInteger);
  }
}

Matrix Int8Network::Outputs(const Matrix& features) const {
  Matrix answers(features.rows(), layers.back().outputs, features.dtype());
  std::vector<int8_t> numbers(input_steps.size());
  std::vector<int32_t> outputs(static_cast<size_t>(layers.back().outputs));
  DispatchFloat(features.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < features.rows(); ++i) {
      Round(features.Row<T>(i), numbers.data());
      Answer(numbers, outputs);
      std::transform(outputs.begin(), outputs.end(), answers.Row<T>(i),
                     [&](int32_t whole) { return static_cast<T>(whole) * static_cast<T>(output_step); });
    }
  });
  return answers;
}

}  // namespace lamina
