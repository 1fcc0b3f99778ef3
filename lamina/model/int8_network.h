// A network in whole numbers of 8 bits, as small processors compute it. The C source (model/c_source) has the same
// integers, to the bit. docs/decisions/0060-c-source.md tells how.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// How a layer's sums become its outputs. z = round(sum * factor / 2^shift) of each neuron.
enum class Int8Finish {
  kClamped,  // z from `low` to 127: identity, relu
  kCorner,   // (corner - sum) / 2^shift where that is above 0, rounded down: l1-triangle, without multiplication
  kTable,    // table[z + 128], z from -128 to 127
  kNumbers,  // the last layer: z itself, in steps of Int8Network::output_step
  kSoftmax,  // the last layer: shares of 32768 of e^z, z in steps of 1/1024
  kSigmoid,  // the last layer: 32768 / (1 + e^-z), z as of kSoftmax
};

struct Int8Layer {
  int64_t inputs = 0;
  int64_t outputs = 0;
  Synapse synapse = Synapse::kDot;
  Activation activation;
  std::vector<int8_t> weights;   // outputs × inputs
  std::vector<int32_t> offsets;  // added to the sum; of kCorner the corner
  Int8Finish finish = Int8Finish::kClamped;
  std::vector<int32_t> factors;  // none of kCorner
  int shift = 0;
  int32_t low = -127;
  std::vector<int8_t> table;

  /// The sum of a neuron over `inputs` numbers, without its offset.
  int32_t SumOf(int64_t neuron, const int8_t* x) const;
  /// What a hidden layer makes of it.
  int8_t HiddenOf(int64_t neuron, int32_t sum) const;
  /// z of every finish but kCorner: of kClamped and kTable not yet cut to their bounds, of the last layer its output
  /// before the curve.
  int32_t Scaled(int64_t neuron, int32_t sum) const;
};

/// e^-d of d = 64 whole + rest steps of 1/64, as 65536 e^-whole times 65536 e^-(rest / 64), over 65536.
struct Int8Powers {
  std::vector<uint32_t> whole;  // 12
  std::vector<uint32_t> rest;   // 64
};
Int8Powers MakeInt8Powers();
/// In 65536ths; `steps`: of 1/64, not negative.
uint32_t PowerOf(const Int8Powers& powers, uint32_t steps);

struct Int8Network {
  std::vector<double> input_steps;  // of each input: its whole number is floor(x / step + 0.5) in the network's type
  std::vector<Int8Layer> layers;
  double output_step = 1;  // an output is its whole number times this

  /// Whole numbers of 8 bits of a row of the network's type.
  template <class T>
  void Round(const T* x, int8_t* numbers) const;
  /// `numbers` (inputs) to `outputs`.
  void Answer(std::span<const int8_t> numbers, std::span<int32_t> outputs) const;
  /// The curve of the last layer, in place.
  void FinishOutputs(std::span<int32_t> outputs) const;
  /// Rows × outputs of the network's type: whole numbers times output_step, in that type.
  Matrix Outputs(const Matrix& features) const;
};

}  // namespace lamina
