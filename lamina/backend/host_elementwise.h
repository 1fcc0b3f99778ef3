// Elementwise of the CPU backends. Every sum is in the order of the rows: the same bits on any number of threads.
#pragma once

#include <algorithm>
#include <iterator>

#include "lamina/backend/elementwise.h"
#include "lamina/backend/host_parts.h"

namespace lamina {

class HostElementwise final : public Elementwise {
 public:
  explicit HostElementwise(HostParts parts) : parts_(parts) {}

  void Fill(MatrixView to, double value) const noexcept override;
  void Repeat(ConstMatrixView from, int64_t times, MatrixView to) const noexcept override;
  void Multiply(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept override;
  void Add(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept override;
  void MultiplySlope(const Activation& activation, ConstMatrixView z, ConstMatrixView a,
                     MatrixView delta) const noexcept override;
  void ScaleColumns(ConstMatrixView from, const void* scale, MatrixView to) const noexcept override;
  void ColumnProducts(ConstMatrixView a, ConstMatrixView b, void* sums) const noexcept override;
  void MeanOfBlocks(ConstMatrixView from, int64_t blocks, MatrixView to) const noexcept override;
  void MixRows(double share, MatrixView rows) const noexcept override;
  void DropoutMask(double dropout, uint64_t seed, uint64_t stream, MatrixView mask) const noexcept override;
  void KeepZeros(ConstMatrixView parameters, MatrixView gradient) const noexcept override;
  void RadiusForward(const RadiusForwardArgs& args) const noexcept override;
  void RadiusBackward(const RadiusBackwardArgs& args) const noexcept override;
  void NormalizeForward(const NormalizeForwardArgs& args) const noexcept override;
  void NormalizeBackward(const NormalizeBackwardArgs& args) const noexcept override;
  void FoldNormalization(const NormalizationArrays& arrays, MatrixView weights, void* bias) const noexcept override;

 private:
  HostParts parts_;
};

/// Applies the rule to elements [begin, end) of one parameter array.
template <class T>
void UpdateArrays(const UpdateRule& rule, bool decay, const ParameterArrays& arrays, int64_t begin,
                  int64_t end) noexcept {
  const auto at = [begin](void* p) { return p == nullptr ? nullptr : static_cast<T*>(p) + begin; };
  T* states[kMostStates];
  std::transform(std::begin(arrays.state), std::end(arrays.state), states, at);
  ApplyUpdate<T>(rule, decay, end - begin, at(arrays.gradient), at(arrays.value), states);
}

}  // namespace lamina
