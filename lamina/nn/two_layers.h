// Two layers that a backend computes in one pass, as two prepared layers. The first notes what it is given; the second
// does the work of both.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lamina/backend/device_reductions.h"

namespace lamina {

/// The results of the first one are never stored: args.a may be without memory. For forward passes only.
class NotedLayer final : public PreparedLayer {
 public:
  void Forward(const ForwardArgs& args) noexcept override { noted_ = args; }
  void InputGradient(const InputGradientArgs& /*args*/) noexcept override {}
  void WeightGradient(const WeightGradientArgs& /*args*/) noexcept override {}
  std::string Describe() const override { return "computed in one pass with the layer over it"; }
  const ForwardArgs& noted() const { return noted_; }

 private:
  ForwardArgs noted_;
};

class LayerOverNoted final : public PreparedLayer {
 public:
  /// `below`, of which Forward() has been called before, must outlive it.
  LayerOverNoted(const NotedLayer& below, std::unique_ptr<TwoLayers> both) : below_(below), both_(std::move(both)) {}
  void Forward(const ForwardArgs& args) noexcept override {
    const ForwardArgs& hidden = below_.noted();
    both_->Forward({hidden.x, hidden.weights, hidden.bias, args.weights, args.bias, args.a});
  }
  void InputGradient(const InputGradientArgs& /*args*/) noexcept override {}
  void WeightGradient(const WeightGradientArgs& /*args*/) noexcept override {}
  std::string Describe() const override { return both_->Describe(); }

 private:
  const NotedLayer& below_;
  std::unique_ptr<TwoLayers> both_;
};

}  // namespace lamina
