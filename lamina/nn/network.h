// Network: layer specs and one flat parameter buffer on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/sparse_matrix.h"
#include "lamina/neuron/problem.h"
#include "lamina/nn/parameter_array.h"

namespace lamina {

/// Weight initialization. Biases start at zero, trained radii at the radius of their activation. Uniform: ±limit;
/// normal: standard deviation.
///  glorot: sqrt(6 / (inputs + outputs)), sqrt(2 / (inputs + outputs));  he: sqrt(6 / inputs), sqrt(2 / inputs)
///  ntk: normal, sqrt(1 / inputs), and biases normal with standard deviation 1
enum class Initialization { kGlorotUniform, kGlorotNormal, kHeUniform, kHeNormal, kNtk };

std::string_view InitializationName(Initialization initialization);
std::vector<std::string> InitializationNames();
Initialization ParseInitialization(std::string_view name);

/// Where the arrays of one layer stand in a flat parameter array, in elements. Each starts on a 64-byte boundary.
struct LayerOffsets {
  int64_t weights = 0;  // outputs × inputs
  int64_t bias = 0;     // outputs; equals `end` of the weights for a layer without bias
  int64_t radius = 0;   // outputs; as above for a layer without trained radii
};

class Network {
 public:
  Network() = default;
  /// Parameters are zero, trained radii as Initialize() leaves them. Throws Error(kInvalidArgument) where CheckLayers
  /// says no.
  ///
  /// `members` above 1: that many networks in one (TabM-mini of Gorishniy, Kotelnikov and Babenko 2025). They share the
  /// hidden layers; each has a factor for every input, and an output layer of its own. The answer is the mean of
  /// theirs.
  Network(std::vector<LayerSpec> layers, DType dtype, int64_t members = 1);

  /// Sizes are positive and chained, the type is f32 or f64, and only the output is softmax. Residual blocks are of
  /// hidden layers as wide as their input. Members need a network of dot layers with hidden ones.
  static Verdict CheckLayers(std::span<const LayerSpec> layers, DType dtype, int64_t members = 1);

  /// Fills the weights, and the members' factors with 1 and -1 at random; the same seed gives the same bits in f32
  /// (rounded) and f64.
  void Initialize(Initialization initialization, uint64_t seed);
  /// A copy with another activation of the output layer.
  Network WithOutput(const Activation& activation) const;
  /// Sets weights and biases of a layer to zero.
  void ClearLayer(size_t layer);

  const std::vector<LayerSpec>& layers() const { return layers_; }
  const std::vector<LayerOffsets>& offsets() const { return offsets_; }
  DType dtype() const { return dtype_; }
  int64_t members() const { return members_; }
  /// How many blocks of `outputs` neurons a layer has: one, the last layer one for each member.
  int64_t blocks(size_t layer) const { return layer + 1 == layers_.size() ? members_ : 1; }
  int64_t inputs() const { return layers_.front().inputs; }
  int64_t outputs() const { return layers_.back().outputs; }
  /// Trainable numbers.
  int64_t parameter_count() const;
  /// The flat array, with the gaps that alignment leaves.
  int64_t parameter_bytes() const { return parameters_.size_bytes(); }
  void* parameters() const { return parameters_.data(); }
  /// blocks × outputs rows of inputs.
  MatrixView Weights(size_t layer);
  ConstMatrixView Weights(size_t layer) const;
  /// Weights of a layer that are nearly all 0 and stand in a list, or null. Weights() and parameters() end that.
  std::shared_ptr<const SparseMatrix> ListedWeights(size_t layer) const;
  /// Weights that were zero so far become those of a list. Its rows and columns are those of Weights().
  void ListWeights(size_t layer, std::shared_ptr<const SparseMatrix> weights);
  /// blocks × outputs elements, or null for a layer without bias.
  void* Bias(size_t layer) const;
  /// Whether a residual block begins with the layer.
  bool BeginsResidual(size_t layer) const;
  /// outputs elements, or null for a layer without trained radii.
  void* Radii(size_t layer) const;
  /// members × inputs; empty for a network without members.
  MatrixView MemberScales() const;
  /// Where they stand in the flat array, in elements.
  int64_t member_offset() const { return member_offset_; }

  /// "784-1024-10"; "784-1024-10, 32 members".
  std::string ShapeText() const;

 private:
  MatrixView WeightsAt(size_t layer) const;
  void InitializeRadii();

  std::vector<LayerSpec> layers_;
  std::vector<LayerOffsets> offsets_;
  DType dtype_ = DType::kF32;
  int64_t members_ = 1;
  int64_t member_offset_ = 0;
  ParameterArray parameters_;
};

/// What begins the text of a residual block, which ends with ")".
inline constexpr std::string_view kResidualText = "residual(";

/// Layers written "dot-tanh:256,dot-softmax:10" or "rbf(radius=12)-radius:256,dot-softmax:10" on `inputs` features, the
/// neurons as in ParseNeuron; "residual(dot-relu:64,dot-identity:64)" is a block whose input is added to its output.
/// `bias`: false takes it from dot layers that do not ask for it with "-bias". Throws Error(kInvalidArgument).
std::vector<LayerSpec> ParseLayers(std::string_view text, int64_t inputs, bool bias,
                                   std::span<const Activation> custom = {});
/// The last `count` parts of such a text become one residual block.
void CloseResidual(std::vector<std::string>& parts, int64_t count);
/// The text of layers: ParseLayers() of it gives the same.
std::string LayersText(std::span<const LayerSpec> layers);

}  // namespace lamina
