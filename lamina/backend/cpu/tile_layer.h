// All passes in f32 and f64: register tiles over packed panels, unpacked dot products where there are few sums.
#pragma once

#include <string>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/pass_plan.h"
#include "lamina/backend/cpu/scratch.h"
#include "lamina/backend/keeps_slopes.h"

namespace lamina::cpu {

/// T: float or double, the elements and the lanes.
template <class T>
class TileLayer final : public PreparedLayer, public KeepsSlopes {
 public:
  TileLayer(const LayerPlanRequest& request, const PassPlans& plans);

  void Forward(const ForwardArgs& args) noexcept override;
  void InputGradient(const InputGradientArgs& args) noexcept override;
  void WeightGradient(const WeightGradientArgs& args) noexcept override;
  // The last bits of distances differ with the neurons beside (found by tests).
  bool NeuronsApart() const override { return !IsDistance(request_.layer.synapse); }
  bool FindsSlopes() const override;
  void ForwardKeeping(const ForwardArgs& args, const MatrixView& slopes) noexcept override;
  void InputGradientTimes(const InputGradientArgs& args, const ConstMatrixView& slopes) noexcept override;
  std::string Describe() const override;

  // For layers that compute some passes in another way, and the rest by this one.

  const LayerPlanRequest& request() const { return request_; }
  const PassPlan& PlanOf(Pass pass) const { return plans_[static_cast<size_t>(pass)]; }
  int ThreadsFor(Pass pass, int64_t batch) const { return PlanOf(pass).ThreadsFor(batch, request_.layer); }
  /// Whether the forward pass of so many samples packs nothing: dot products fill vectors along the inputs, tiles along
  /// the batch.
  bool UsesDots(int64_t batch) const;
  ForwardTask<T> TaskOf(const ForwardArgs& args) const;
  InputGradientTask<T> TaskOf(const InputGradientArgs& args) const;
  WeightGradientTask<T> TaskOf(const WeightGradientArgs& args) const;

 private:
  void Run(const ForwardTask<T>& task) noexcept;
  void Run(const InputGradientTask<T>& task) noexcept;

  LayerPlanRequest request_;
  PassPlans plans_;
  const KernelTable<T>& kernels_;
  const SynapseKernels<T>& passes_;
  ScratchBuffer<T> scratch_;
};

extern template class TileLayer<float>;
extern template class TileLayer<double>;

}  // namespace lamina::cpu
