// A network in 8-bit integers as it is trained: its whole numbers forward, straight-through gradients back.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/model/int8_rounding.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Rounding counts as if it were not there. A gradient is that of the network in numbers, at the rounded inputs and
/// weights and at the sums that they give. Where a number was cut to the bounds of 8 bits it is 0. One caller at a
/// time.
class Int8Gradients {
 public:
  /// For batches of at most `rows` rows of networks of these layers.
  Int8Gradients(const Network& network, int64_t rows);

  /// The outputs of Int8Network::Outputs(), to the bit. `rounded` is that of `network`; both stay until Backward().
  ConstMatrixView Forward(const Network& network, const Int8Rounded& rounded, ConstMatrixView x);
  /// From ∂E/∂z of the last layer, for the rows of Forward(), to ∂E/∂parameters, which replaces those in `gradient` (of
  /// the same layers).
  void Backward(ConstMatrixView delta, Network& gradient);

 private:
  struct Layer {
    std::vector<int8_t> x;        // rows × inputs: whole numbers
    std::vector<uint8_t> inside;  // rows × outputs: whether an output was not cut
    Matrix values;                // rows × inputs: what they mean
    Matrix weights;               // outputs × inputs: what the whole numbers mean
    Matrix z;                     // rows × outputs: what goes into the curve, not rounded
    Matrix delta;                 // ∂E/∂z
    std::vector<double> radii;    // 1 where none is trained
    Activation curve;
  };
  template <class T>
  void ForwardRows(ConstMatrixView x);
  template <class T>
  void ForwardLayer(size_t l, int64_t rows);
  template <class T>
  void ReadLayer(size_t l, int64_t rows);
  template <class T>
  void SlopesOf(size_t l);
  template <class T>
  void LayerGradient(size_t l, Network& gradient);
  template <class T>
  void DeltaBelow(size_t l);

  const Network* network_ = nullptr;
  const Int8Rounded* rounded_ = nullptr;
  int64_t rows_ = 0;  // of the last Forward()
  std::vector<Layer> layers_;
  std::vector<int32_t> whole_;  // outputs of a row
  Matrix outputs_;
};

}  // namespace lamina
