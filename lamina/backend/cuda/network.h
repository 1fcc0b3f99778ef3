// Training steps of a small network as one launch: what the kernel is told. The plan is cuda_network.cc's.
#pragma once

#include <cstdint>

#include "lamina/backend/backend.h"
#include "lamina/backend/cuda/activation.cuh"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/epilogue.cuh"
#include "lamina/neuron/update_rule.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

inline constexpr int kNetworkThreads = 512;
inline constexpr int kMostNetworkLayers = 4;
inline constexpr int kMostNetworkBatch = 256;
inline constexpr int kNeuronsTogether = 8;  // that a thread has sums of
inline constexpr int kRowsTogether = kWarp / kNeuronsTogether;
inline constexpr int kMostGradientParts = 2;  // of the batch, for the gradient of the first layer

/// An array of parameters in device memory, and where the block has its part in shared memory.
template <class T>
struct NetworkArray {
  T* value = nullptr;  // null: there is none
  T* state[kMostStates] = {};
  int at = 0;
  int state_at[kMostStates] = {};
};

/// The first layer's neurons are shared out over the blocks; the second layer's weights by the inputs that these are.
/// All others are in every block.
template <class T>
struct NetworkLayer {
  int inputs = 0;  // of the whole layer
  int outputs = 0;
  int weight_stride = 0;  // in shared memory
  int stride = 0;         // of a, z, distance and delta
  DeviceActivation activation;
  NetworkArray<T> weights, bias;
  int a = 0;  // places in shared memory, rows of the batch; -1: not there
  int z = -1;
  int distance = -1;
  int scaled = -1;  // delta as the weights' gradient takes it; that of the bias is by delta
  int delta = 0;
};

struct NetworkProgress {
  int64_t steps = 0;   // that were done
  bool finite = true;  // the loss of the last of them, and so of all
};

template <class T>
struct NetworkArgs {
  NetworkLayer<T> layers[kMostNetworkLayers];
  int layer_count = 0;
  int neurons = 0;       // of the first layer that a block has; fewer in the last
  int kept_rows = 0;     // of the batch that stay in shared memory from the forward pass to the gradient
  bool rounded = false;  // rows of x to bf16, of dot layers
  int gradient_parts = 1;
  int targets = 0, sample_weights_at = 0, kept = 0, parts = 0;  // places in shared memory
  bool vectors = false;                                         // rows of x are aligned to four elements
  Rows<const T> x, target_rows;
  const T* sample_weights = nullptr;
  const int64_t* order = nullptr;
  int64_t begin = 0, end = 0;
  int batch = 0;
  int steps = 0;
  UpdateRule rule;
  const UpdateNumbers<T>* numbers = nullptr;  // of every step
  DeviceLossFormula loss;
  bool softmax = false;
  bool multiply_slope = false;
  double class_threshold = 0.5;
  T keep = T(1);
  T even = T(0);
  LossSums* sums = nullptr;
  NetworkProgress* progress = nullptr;
  // Sums of the second layer on their way between blocks: the part of every block, then the sums of all parts.
  T* slots = nullptr;
  int slot_size = 0;             // a multiple of 4
  unsigned* counters = nullptr;  // of blocks whose part is there, and of those whose sums are; 0 at first
};

/// The places of shared memory begin behind this many bytes.
inline constexpr int64_t kNetworkHead_bytes = 2816;

/// Whether LaunchNetwork() may be called so.
Verdict MayLaunchNetwork(Device& device, Synapse synapse, int blocks, int64_t shared_bytes, bool rounded);
/// `blocks` of them, at most one a multiprocessor; S is the synapse of the first layer.
void LaunchNetwork(Device& device, Synapse synapse, int blocks, int64_t shared_bytes, const NetworkArgs<float>& args);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
