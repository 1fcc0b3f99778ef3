// Embeddings of inputs: layers in front of the hidden ones. Their neurons see one column each, so most weights are zero
// and stay zero (ExecutorOptions::embedding_layers). For whatever answers they are ordinary layers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/input_encoder.h"
#include "lamina/nn/network.h"
#include "lamina/settings/recipe.h"

namespace lamina {

/// The embedding that settings ask for, for an encoder's inputs. The first layer is of sines. They are waves of a
/// number; a category gets as many sines of its weights as it becomes numbers. A layer has one activation, so inputs
/// that are passed on go through a sine, too. It is a quarter of a wave from 0 to the largest value, which is 0 and 1
/// for categories. The second layer, where there are numbers, mixes the waves of each.
class InputEmbedding {
 public:
  /// Empty where the settings ask for none, or no input is of such a kind. Throws Error for an unknown name.
  InputEmbedding(const ResolvedSettings& settings, const InputEncoder& inputs);

  bool empty() const { return layers_.empty(); }
  /// The first layers of the network; none where it is empty.
  const std::vector<LayerSpec>& layers() const { return layers_; }
  /// Weights at the start of the network's first layers, for inputs such as `features` (rows × inputs); the same seed
  /// gives the same bits.
  void Start(const Matrix& features, uint64_t seed, Network& network) const;

 private:
  // Neighboring inputs that have neurons of their own.
  struct Part {
    enum Kind { kPassed, kNumber, kCategory };
    Kind kind = kPassed;
    int64_t first = 0;   // input
    int64_t inputs = 1;  // one, or one a category
  };
  int64_t FirstWidth(const Part& part) const;
  int64_t SecondWidth(const Part& part) const;
  void StartWaves(const Matrix& features, uint64_t seed, Network& network) const;
  void StartMixtures(uint64_t seed, Network& network) const;

  int64_t waves_;
  double wave_scale_;
  int64_t size_;
  int64_t category_size_;
  std::vector<Part> parts_;
  std::vector<LayerSpec> layers_;
};

/// TrainOptions::embedding_layers.
inline int64_t EmbeddingLayersOf(const ResolvedSettings& settings, const InputEncoder& inputs) {
  return std::ssize(InputEmbedding(settings, inputs).layers());
}

}  // namespace lamina
