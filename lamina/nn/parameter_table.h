// ParameterTable: every array that training changes, with what an update does to it. The flat arrays of an executor
// begin like Network::parameters(); behind that stands what only training has.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lamina/nn/network.h"
#include "lamina/nn/step_options.h"

namespace lamina {

enum class Parameter : uint8_t {
  kWeights,
  kBias,
  kRadius,
  kMemberScale,  // members × inputs
  kFrontScale,   // a factor of every input of a layer
  kGamma,        // of a normalized layer
  kMean,         // its running statistics, which no gradient changes
  kVariance
};

struct ParameterBlock {
  Parameter kind = Parameter::kWeights;
  size_t layer = 0;
  int64_t offset = 0;  // in elements of the flat arrays
  int64_t count = 0;
  bool updated = true;  // by gradients
  bool decays = false;
  double rate = 1;                                             // times the learning rate
  double smallest = -std::numeric_limits<double>::infinity();  // no element goes below
  double start = 0;                                            // where the network does not say
};

/// A trained radius stays at or above a share of its first value. At 0 its neuron has no gradient, and below 0 it is no
/// distance.
double SmallestRadius(const LayerSpec& spec);

class ParameterTable {
 public:
  /// `training`: with what only training has.
  ParameterTable(const Network& network, const StepOptions& options, bool training);

  std::span<const ParameterBlock> blocks() const { return blocks_; }
  /// Null where there is none.
  const ParameterBlock* Find(Parameter kind, size_t layer) const;
  /// Length of the flat arrays; between the blocks are gaps.
  int64_t elements() const { return elements_; }
  /// What of it is Network::parameters().
  int64_t network_elements() const { return network_elements_; }

 private:
  void AddLayer(const Network& network, size_t l, const StepOptions& options, const LayerRates& rates);
  void AddBehind(Parameter kind, size_t layer, int64_t count, double start, double rate, bool updated = true);

  std::vector<ParameterBlock> blocks_;
  int64_t elements_ = 0;
  int64_t network_elements_ = 0;
};

/// The bytes of everything that is trained: Executor::TrainedParameters().
int64_t TrainedSize_bytes(const Network& network, const StepOptions& options);

}  // namespace lamina
