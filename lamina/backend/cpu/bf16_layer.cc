// Dot layers in f32 whose operands are rounded to bf16, but for few samples or outputs, where rounding the weights
// costs more than it saves.
#include <fmt/format.h>

#include "lamina/backend/cpu/implementations.h"
#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/tile_layer.h"

namespace lamina::cpu {
namespace {

// Whether two products of bf16 are one instruction.
bool MultipliesPairs() {
  return ApplyInstructionSets().used.bf16_products && BFloat16Kernels().pairs.forward != nullptr;
}

class BFloat16Layer final : public PreparedLayer {
 public:
  BFloat16Layer(const LayerPlanRequest& request, const PassPlans& plans) : exact_(request, plans) {}

  void Forward(const ForwardArgs& args) noexcept override {
    if (exact_.UsesDots(args.x.rows)) {
      exact_.Forward(args);
      return;
    }
    const auto task = exact_.TaskOf(args);
    RunTeam(exact_.ThreadsFor(Pass::kForward, args.x.rows), [&](Team team) { passes_.forward(task, team); });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    if (exact_.UsesDots(args.delta.rows)) {
      exact_.InputGradient(args);
      return;
    }
    const auto task = exact_.TaskOf(args);
    RunTeam(exact_.ThreadsFor(Pass::kInputGradient, args.delta.rows),
            [&](Team team) { passes_.input_gradient(task, team); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    if (exact_.UsesDots(args.x.rows)) {
      exact_.WeightGradient(args);
      return;
    }
    const auto task = exact_.TaskOf(args);
    RunTeam(exact_.ThreadsFor(Pass::kWeightGradient, args.x.rows),
            [&](Team team) { passes_.weight_gradient(task, team); });
  }

  std::string Describe() const override {
    return exact_.Describe() + (exact_.UsesDots(exact_.request().max_batch) ? ""
                                : pairs_                                    ? ", bf16 operands"
                                                                            : ", bf16 operands widened");
  }

 private:
  TileLayer<float> exact_;
  bool pairs_ = MultipliesPairs();
  const BFloat16Passes& passes_ = pairs_ ? BFloat16Kernels().pairs : BFloat16Kernels().widened;
};

Verdict BFloat16Accepts(const LayerPlanRequest& request) {
  if (request.precision != Precision::kBFloat16) {
    return Verdict::No("operands are not to be rounded to bf16");
  }
  if (request.dtype != DType::kF32 || IsDistance(request.layer.synapse)) {
    return Verdict::No(fmt::format("bf16 operands are for dot layers in f32, not {} in {}",
                                   SynapseName(request.layer.synapse), DTypeName(request.dtype)));
  }
  return MultipliesPairs()
             ? Verdict::Yes()
             : Verdict::YesBut("bf16 without hardware for it: operands are rounded, no faster than exact");
}

std::unique_ptr<PreparedLayer> MakeBFloat16Layer(const LayerPlanRequest& request, const PassPlans& plans) {
  return std::make_unique<BFloat16Layer>(request, plans);
}

}  // namespace

CpuImplementation BFloat16Implementation() {
  return {"bf16 product", &BFloat16Accepts, &MakeBFloat16Layer, &TileCandidates};
}

}  // namespace lamina::cpu
