// Passes onto the kernels of amx_kernels.h, beside a layer that computes what tiles are too large for.
#include "lamina/backend/cpu/amx_layer.h"

#include <fmt/format.h>

#include "lamina/backend/cpu/amx_kernels.h"
#include "lamina/backend/cpu/implementations.h"
#include "lamina/backend/cpu/scratch.h"

namespace lamina::cpu {
namespace {

// Calls of fewer samples, or layers of fewer outputs, would pack more than they compute; of outputs no fewer than what
// Precision::kBFloat16 rounds for elsewhere.
constexpr int64_t kFewestSamples = kAmxSide;
constexpr int64_t kFewestOutputs = 24;

// What computes the request, or the rest of it, without tiles.
CpuImplementation WithoutTiles(const LayerPlanRequest& request) {
  if (request.precision == Precision::kBFloat16) {
    return BFloat16Implementation();
  }
  return request.dtype == DType::kF32 || request.dtype == DType::kF64 ? TileImplementation() : GroupImplementation();
}

bool IsByte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

// Passes in f32, whose operands are parts in bf16.
const AmxPasses& PassesOf(const LayerPlanRequest& request) {
  switch (request.precision) {
    case Precision::kBFloat16: return AmxKernels().rounded;
    case Precision::kFast: return AmxKernels().split;
    default: return AmxKernels().whole;
  }
}

// The part of a layer on tiles that does not depend on types.
class TilePlans {
 public:
  TilePlans(const LayerPlanRequest& request, const PassPlans& plans)
      : request_(request), plans_(plans), without_(WithoutTiles(request).make(request, plans)) {}

  // Plans of the kernels without tiles are kept to, but for what LayerPlanRequest::any_slicing makes of every plan.
  bool UsesTiles(Pass pass, int64_t batch) const {
    const std::string& kernel = PlanOf(pass).kernel;
    const bool others = kernel == "tile" || kernel == "dots";
    return batch >= kFewestSamples && (!others || request_.any_slicing);
  }
  const PassPlan& PlanOf(Pass pass) const { return plans_[static_cast<size_t>(pass)]; }
  int ThreadsFor(Pass pass, int64_t batch) const { return PlanOf(pass).ThreadsFor(batch, request_.layer); }
  const LayerPlanRequest& request() const { return request_; }
  PreparedLayer& without() const { return *without_; }

  std::string Describe(std::string_view operands) const {
    if (!UsesTiles(Pass::kForward, request_.max_batch)) {
      return without_->Describe();
    }
    return fmt::format("cpu: dot {}x{} AMX tiles, {} threads, {}", kAmxShape.columns(), kAmxShape.columns(),
                       ThreadsFor(Pass::kForward, request_.max_batch), operands);
  }

 private:
  LayerPlanRequest request_;
  PassPlans plans_;
  std::unique_ptr<PreparedLayer> without_;
};

class AmxFloatLayer final : public PreparedLayer {
 public:
  AmxFloatLayer(const LayerPlanRequest& request, const PassPlans& plans)
      : tiles_(request, plans), passes_(PassesOf(request)), scratch_(ScratchOf(request, plans, passes_.parts)) {}

  void Forward(const ForwardArgs& args) noexcept override {
    if (!tiles_.UsesTiles(Pass::kForward, args.x.rows)) {
      tiles_.without().Forward(args);
      return;
    }
    const ForwardTask<float> task{&args, &tiles_.request().layer.activation, scratch_.get(),
                                  tiles_.PlanOf(Pass::kForward).budget};
    RunTeam(tiles_.ThreadsFor(Pass::kForward, args.x.rows), [&](Team team) { passes_.forward(task, team); });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    if (!tiles_.UsesTiles(Pass::kInputGradient, args.delta.rows)) {
      tiles_.without().InputGradient(args);
      return;
    }
    const InputGradientTask<float> task{&args, scratch_.get(), tiles_.PlanOf(Pass::kInputGradient).budget};
    RunTeam(tiles_.ThreadsFor(Pass::kInputGradient, args.delta.rows),
            [&](Team team) { passes_.input_gradient(task, team); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    if (!tiles_.UsesTiles(Pass::kWeightGradient, args.x.rows)) {
      tiles_.without().WeightGradient(args);
      return;
    }
    const WeightGradientTask<float> task{&args, NumbersOf<float>(args.rule, true), NumbersOf<float>(args.rule, false),
                                         scratch_.get(), tiles_.PlanOf(Pass::kWeightGradient).budget};
    RunTeam(tiles_.ThreadsFor(Pass::kWeightGradient, args.x.rows),
            [&](Team team) { passes_.weight_gradient(task, team); });
  }

  std::string Describe() const override {
    return tiles_.Describe(passes_.parts == 1 ? "bf16 operands"
                                              : fmt::format("operands as {} bf16 each", passes_.parts));
  }

 private:
  static ScratchBuffer<float> ScratchOf(const LayerPlanRequest& request, const PassPlans& plans, int64_t parts) {
    const auto size = [&](int64_t rows, int64_t columns, int64_t depth, Pass pass) {
      return ScratchFor(rows, columns, CeilDivide(depth, 2), kAmxShape, plans[static_cast<size_t>(pass)].budget,
                        kAmxSide);
    };
    const int64_t batch = request.max_batch;
    const int64_t inputs = request.layer.inputs;
    const int64_t outputs = request.layer.outputs;
    ScratchSizes sizes = size(outputs, batch, inputs, Pass::kForward);
    if (request.training) {
      sizes = LargestOf(sizes, size(batch, inputs, outputs, Pass::kInputGradient));
      sizes = LargestOf(sizes, size(outputs, inputs, batch, Pass::kWeightGradient));
    }
    sizes.rows *= parts;
    sizes.columns *= parts;
    return ScratchBuffer<float>(sizes, 0);
  }

  TilePlans tiles_;
  const AmxPasses& passes_;
  ScratchBuffer<float> scratch_;
};

// Forward passes on operands stored as bf16 or f16 (T: float) or bytes (T: int32_t).
template <class T>
class AmxStoredLayer final : public PreparedLayer {
 public:
  AmxStoredLayer(const LayerPlanRequest& request, const PassPlans& plans)
      : tiles_(request, plans), scratch_(ScratchOf(request, tiles_.PlanOf(Pass::kForward).budget)) {
    if constexpr (std::is_same_v<T, float>) {
      forward_ = request.dtype == DType::kF16 ? AmxKernels().forward_f16 : AmxKernels().forward_bf16;
    } else {
      forward_ = request.dtype == DType::kI8 ? AmxKernels().forward_i8 : AmxKernels().forward_u8;
    }
  }

  void Forward(const ForwardArgs& args) noexcept override {
    if (!tiles_.UsesTiles(Pass::kForward, args.x.rows)) {
      tiles_.without().Forward(args);
      return;
    }
    const ForwardTask<T> task{&args, &tiles_.request().layer.activation, scratch_.get(),
                              tiles_.PlanOf(Pass::kForward).budget};
    RunTeam(tiles_.ThreadsFor(Pass::kForward, args.x.rows), [&](Team team) { forward_(task, team); });
  }
  // Supports() has declined them.
  void InputGradient(const InputGradientArgs&) noexcept override { Check(false, "AmxStoredLayer: no gradients"); }
  void WeightGradient(const WeightGradientArgs&) noexcept override { Check(false, "AmxStoredLayer: no gradients"); }

  std::string Describe() const override { return tiles_.Describe(DTypeName(tiles_.request().dtype)); }

 private:
  static ScratchBuffer<T> ScratchOf(const LayerPlanRequest& request, const CacheBudget& budget) {
    constexpr auto kLane_bytes = static_cast<int64_t>(sizeof(T));
    ScratchSizes sizes = ScratchFor(request.layer.outputs, request.max_batch,
                                    CeilDivide(request.layer.inputs, kLane_bytes / DTypeSize_bytes(request.dtype)),
                                    kAmxShape, budget, kAmxSide);
    const int64_t parts = request.dtype == DType::kF16 ? AmxKernels().f16_parts : 1;
    sizes.rows *= parts;
    sizes.columns *= parts;
    return ScratchBuffer<T>(sizes, 0);
  }

  TilePlans tiles_;
  void (*forward_)(const ForwardTask<T>&, Team) noexcept = nullptr;
  ScratchBuffer<T> scratch_;
};

Verdict AmxAccepts(const LayerPlanRequest& request) { return AmxServes(request, ApplyInstructionSets().used); }

// Plans of tiles, and plans of what is taken without them by its name: the tuner measures both.
std::vector<Candidate> AmxCandidates(const Problem& problem, int threads) {
  std::vector<Candidate> candidates = TileCandidates(problem, threads);
  for (Candidate& each : candidates) {
    if (each.plan.kernel.empty()) {
      each.plan.kernel = "tile";
    }
  }
  constexpr double kCost = 0.1;  // 16 times the multiply-adds a cycle, and packing
  for (const int64_t team : CandidateTeams(problem, threads)) {
    for (const int64_t depth : {256, 512, 1024, 2048}) {
      candidates.push_back({kCost, {.kernel = "amx", .depth = depth, .threads = team}});
    }
  }
  return candidates;
}

}  // namespace

Verdict AmxServes(const LayerPlanRequest& request, const InstructionSets& sets) {
  if (Verdict without = WithoutTiles(request).accepts(request); !without) {
    return without;
  }
  const bool bytes = IsByte(request.dtype);
  const bool floats = request.dtype == DType::kF32 || request.dtype == DType::kF16;
  const bool parts = floats && request.precision != Precision::kExact;  // an infinity becomes NaN
  if (IsDistance(request.layer.synapse) || !(parts || bytes || request.dtype == DType::kBF16)) {
    return Verdict::No(fmt::format("AMX multiplies bf16 and bytes; it computes no {} in {}",
                                   SynapseName(request.layer.synapse), DTypeName(request.dtype)));
  }
  if (!(bytes ? sets.byte_tiles : sets.bf16_tiles) || AmxKernels().rounded.forward == nullptr) {
    return Verdict::No("no AMX");
  }
  if (!bytes && request.any_slicing) {
    return Verdict::No("AMX sums in another order than kernels for few samples");
  }
  return request.max_batch >= kFewestSamples && request.layer.outputs >= kFewestOutputs
             ? Verdict::Yes()
             : Verdict::No("too few samples or outputs for AMX");
}

std::unique_ptr<PreparedLayer> MakeAmxLayer(const LayerPlanRequest& request, const PassPlans& plans) {
  if (IsByte(request.dtype)) {
    return std::make_unique<AmxStoredLayer<int32_t>>(request, plans);
  }
  if (request.dtype == DType::kBF16 || request.dtype == DType::kF16) {
    return std::make_unique<AmxStoredLayer<float>>(request, plans);
  }
  return std::make_unique<AmxFloatLayer>(request, plans);
}

CpuImplementation AmxImplementation() { return {"AMX tiles", &AmxAccepts, &MakeAmxLayer, &AmxCandidates}; }

}  // namespace lamina::cpu
