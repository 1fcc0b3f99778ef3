// The smaller operations of training on the device, as the backend asks for them.
#pragma once

#include "lamina/backend/backend.h"
#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/epilogue.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class T>
Rows<T> RowsOf(const MatrixView& view) {
  T* const data = view.empty() ? nullptr : static_cast<T*>(view.data);
  return {data, view.stride, IsWide(data, view.stride)};
}
template <class T>
Rows<const T> RowsOf(const ConstMatrixView& view) {
  const T* const data = view.empty() ? nullptr : static_cast<const T*>(view.data);
  return {data, view.stride, IsWide(data, view.stride)};
}

template <class T>
ParameterEpilogue<T> ToDevice(const Device& device, const ParameterArrays& arrays, int64_t cols, const UpdateRule* rule,
                              bool decay) {
  const auto rows_of = [cols](void* data) {
    return Rows<T>{static_cast<T*>(data), cols, IsWide(static_cast<T*>(data), cols)};
  };
  ParameterEpilogue<T> epilogue{rows_of(arrays.value), rows_of(arrays.gradient)};
  for (int i = 0; i < kMostStates; ++i) {
    epilogue.state[i] = rows_of(arrays.state[i]);
  }
  epilogue.update = rule != nullptr;
  epilogue.decay = decay;
  epilogue.rule = rule == nullptr ? UpdateRule{} : *rule;
  epilogue.numbers = NumbersOf<T>(rule, decay);
  epilogue.live = device.live();
  return epilogue;
}

void LaunchGatherRows(Device& device, const ConstMatrixView& from, const int64_t* rows, int64_t count,
                      const MatrixView& to);
void LaunchLoss(Device& device, const LossArgs& args);
void LaunchClip(Device& device, const ClipArgs& args);
void LaunchUpdate(Device& device, const UpdateArgs& args);
/// out (dense) = delta scaled as the synapse's gradients want it.
void LaunchScaleDelta(Device& device, Synapse synapse, const ConstMatrixView& delta, const ConstMatrixView& distance,
                      void* out);
/// The bias gradient, or the update by it.
void LaunchColumnSums(Device& device, const ConstMatrixView& delta, const ParameterArrays& bias,
                      const UpdateRule* rule);
/// The next `batch` samples, the next step of the rule.
void LaunchAdvance(Device& device, LiveStep* live, int64_t batch);
/// Rows of a, in place.
void LaunchSoftmax(Device& device, const MatrixView& a);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
