// Backend "cpu": plans each layer onto the vector kernels (or oneDNN), owns their scratch and decides on
// threads.
#include "lamina/backend/cpu/cpu_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/backend/cpu/candidates.h"
#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/onednn_matmul.h"
#include "lamina/backend/cpu/pass_plan.h"
#include "lamina/backend/cpu/scratch.h"
#include "lamina/backend/cpu/small_network.h"
#include "lamina/backend/cpu/typed_layer.h"
#include "lamina/backend/host_backend.h"
#include "lamina/backend/requirements.h"
#include "lamina/backend/training_steps.h"
#include "lamina/base/names.h"

namespace lamina {
namespace {

template <class T>
class OwnLayer : public PreparedLayer {
 public:
  OwnLayer(const LayerPlanRequest& request, const cpu::PassPlans& plans)
      : request_(request),
        plans_(plans),
        kernels_(cpu::Kernels<T>()),
        passes_(kernels_.synapses[static_cast<size_t>(request.layer.synapse)]),
        scratch_(ScratchOf(request, plans, kernels_.shape)) {}

  void Forward(const ForwardArgs& args) noexcept override {
    const cpu::ForwardTask<T> task = TaskOf(args);
    const auto kernel = UsesDots(args.x.rows) ? passes_.forward_dots : passes_.forward;
    RunTeam(ThreadsFor(Pass::kForward, args.x.rows), [&](Team team) { kernel(task, team); });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    const cpu::InputGradientTask<T> task = TaskOf(args);
    RunTeam(ThreadsFor(Pass::kInputGradient, args.delta.rows),
                 [&](Team team) { passes_.input_gradient(task, team); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    const cpu::WeightGradientTask<T> task = TaskOf(args);
    RunTeam(ThreadsFor(Pass::kWeightGradient, args.x.rows),
                 [&](Team team) { passes_.weight_gradient(task, team); });
  }

  std::string Describe() const override {
    return fmt::format("cpu: {} {}x{} tile, {}, {}{} threads", SynapseName(request_.layer.synapse), kernels_.shape.rows,
                       kernels_.shape.columns(), kernels_.target,
                       UsesDots(request_.max_batch) ? "unpacked forward, " : "",
                       ThreadsFor(Pass::kForward, request_.max_batch));
  }

 protected:
  // Dot products fill vectors along the inputs, tiles along the batch.
  bool UsesDots(int64_t batch) const {
    const std::string& kernel = PlanOf(Pass::kForward).kernel;
    return kernel.empty() ? batch < 12 || request_.layer.outputs < 24 : kernel == "dots";
  }

  const cpu::PassPlan& PlanOf(Pass pass) const { return plans_[static_cast<size_t>(pass)]; }
  int ThreadsFor(Pass pass, int64_t batch) const { return PlanOf(pass).ThreadsFor(batch, request_.layer); }

  cpu::ForwardTask<T> TaskOf(const ForwardArgs& args) const {
    return {&args, &request_.layer.activation, scratch_.get(), PlanOf(Pass::kForward).budget};
  }
  cpu::InputGradientTask<T> TaskOf(const InputGradientArgs& args) const {
    return {&args, scratch_.get(), PlanOf(Pass::kInputGradient).budget};
  }
  cpu::WeightGradientTask<T> TaskOf(const WeightGradientArgs& args) const {
    return {&args, NumbersOf<T>(args.rule, true), NumbersOf<T>(args.rule, false), scratch_.get(),
            PlanOf(Pass::kWeightGradient).budget};
  }

  static cpu::ScratchBuffer<T> ScratchOf(const LayerPlanRequest& request, const cpu::PassPlans& plans,
                                         cpu::TileShape shape) {
    const int64_t batch = request.max_batch;
    const int64_t inputs = request.layer.inputs;
    const int64_t outputs = request.layer.outputs;
    cpu::ScratchSizes sizes = cpu::ScratchFor(outputs, batch, inputs, shape, plans[0].budget);
    if (request.training) {
      sizes = cpu::LargestOf(sizes, cpu::ScratchFor(batch, inputs, outputs, shape, plans[1].budget));
      sizes = cpu::LargestOf(sizes, cpu::ScratchFor(outputs, inputs, batch, shape, plans[2].budget));
    }
    const bool scales = request.training && SynapseScalesDelta(request.layer.synapse);
    return cpu::ScratchBuffer<T>(sizes, scales ? batch * outputs : 0);
  }

  LayerPlanRequest request_;
  cpu::PassPlans plans_;
  const cpu::KernelTable<T>& kernels_;
  const cpu::SynapseKernels<T>& passes_;
  cpu::ScratchBuffer<T> scratch_;
};

// oneDNN for the products of passes whose plan says so, where it takes them; own kernels for the rest.
class OnednnLayer final : public OwnLayer<float> {
 public:
  OnednnLayer(const LayerPlanRequest& request, const cpu::PassPlans& plans)
      : OwnLayer<float>(request, plans), fuses_(cpu::OnednnMatmul::Fuses(request.layer.activation)) {}

  void Forward(const ForwardArgs& args) noexcept override {
    const bool fused = fuses_ && args.z.empty();
    const MatrixView& z = args.z.empty() ? args.a : args.z;
    if (!Run(Pass::kForward, args.x.rows,
             {DenseOf(args.x), TurnedOf(args.weights), fused ? args.bias : nullptr,
              fused ? &request_.layer.activation : nullptr, z})) {
      OwnLayer<float>::Forward(args);
    } else if (!fused) {
      RunTeam(ThreadsFor(Pass::kForward, args.x.rows),
                   [&](Team team) { kernels_.activate(TaskOf(args), team); });
    }
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    if (!Run(Pass::kInputGradient, args.delta.rows,
             {DenseOf(args.delta), DenseOf(args.weights), nullptr, nullptr, args.out})) {
      OwnLayer<float>::InputGradient(args);
      return;
    }
    RunTeam(ThreadsFor(Pass::kInputGradient, args.delta.rows),
                 [&](Team team) { kernels_.multiply_slope(TaskOf(args), team); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    const MatrixView gradient = ViewOf(static_cast<float*>(args.weights.gradient), args.delta.cols, args.x.cols);
    if (!Run(Pass::kWeightGradient, args.x.rows, {TurnedOf(args.delta), DenseOf(args.x), nullptr, nullptr, gradient})) {
      OwnLayer<float>::WeightGradient(args);
      return;
    }
    RunTeam(ThreadsFor(Pass::kWeightGradient, args.x.rows),
                 [&](Team team) { kernels_.update(TaskOf(args), team); });
  }

  std::string Describe() const override {
    return UsesOnednn(Pass::kForward)
               ? fmt::format("cpu: {}, {} threads", OnednnDescription(), ThreadsFor(Pass::kForward, request_.max_batch))
               : OwnLayer<float>::Describe();
  }

 private:
  // to = a b + bias, and the activation: null where not fused.
  struct Work {
    cpu::DnnMatrix a, b;
    const void* bias;
    const Activation* activation;
    MatrixView to;
  };

  static cpu::DnnMatrix DenseOf(const ConstMatrixView& m) { return {m.data, m.rows, m.cols, m.stride, 1}; }
  static cpu::DnnMatrix TurnedOf(const ConstMatrixView& m) { return {m.data, m.cols, m.rows, 1, m.stride}; }

  bool UsesOnednn(Pass pass) const { return PlanOf(pass).kernel == "onednn"; }

  bool Run(Pass pass, int64_t batch, const Work& work) noexcept {
    if (!UsesOnednn(pass)) {
      return false;
    }
    const ThreadCountScope scope(ThreadsFor(pass, batch));
    return matmul_.Run(work.a, work.b, work.bias, work.activation, work.to);
  }

  cpu::OnednnMatmul matmul_;
  bool fuses_;
};

// Whether two products of bf16 are one instruction.
bool MultipliesPairs() {
  return cpu::ApplyInstructionSets().used.bf16_products && cpu::BFloat16Kernels().pairs.forward != nullptr;
}

// Products of bf16 operands, but for few samples or outputs, where rounding the weights costs more than it saves.
class MixedLayer final : public OwnLayer<float> {
 public:
  using OwnLayer<float>::OwnLayer;

  void Forward(const ForwardArgs& args) noexcept override {
    if (UsesDots(args.x.rows)) {
      OwnLayer<float>::Forward(args);
      return;
    }
    const auto task = TaskOf(args);
    RunTeam(ThreadsFor(Pass::kForward, args.x.rows), [&](Team team) { mixed_.forward(task, team); });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    if (UsesDots(args.delta.rows)) {
      OwnLayer<float>::InputGradient(args);
      return;
    }
    const auto task = TaskOf(args);
    RunTeam(ThreadsFor(Pass::kInputGradient, args.delta.rows),
                 [&](Team team) { mixed_.input_gradient(task, team); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    if (UsesDots(args.x.rows)) {
      OwnLayer<float>::WeightGradient(args);
      return;
    }
    const auto task = TaskOf(args);
    RunTeam(ThreadsFor(Pass::kWeightGradient, args.x.rows),
                 [&](Team team) { mixed_.weight_gradient(task, team); });
  }

  std::string Describe() const override {
    return OwnLayer<float>::Describe() + (UsesDots(request_.max_batch) ? ""
                                          : pairs_                     ? ", bf16 operands"
                                                                       : ", bf16 operands widened");
  }

 private:
  bool pairs_ = MultipliesPairs();
  const cpu::MixedKernels& mixed_ = pairs_ ? cpu::BFloat16Kernels().pairs : cpu::BFloat16Kernels().widened;
};

class CpuBackend final : public HostBackend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : HostBackend(ResolveThreads(options.threads)), kernel_(options.kernel), plans_(options.plans) {}

  std::string_view name() const override { return "cpu"; }

  std::string Describe() const override {
    const std::string restriction = cpu::ApplyInstructionSets().Restriction();
    return fmt::format("cpu: {}{}, {} thread{}{}", cpu::Kernels<float>().target,
                       restriction.empty() ? "" : fmt::format(" (LAMINA_ISA={})", restriction), threads(),
                       threads() == 1 ? "" : "s", kernel_ == "onednn" ? ", " + OnednnDescription() : "");
  }

  Verdict Supports(const Problem& problem) const override {
    if (kernel_ == "onednn" && !cpu::OnednnMatmul::Available()) {
      return Verdict::No("this lamina was built without oneDNN");
    }
    if (kernel_ == "onednn" && IsDistance(problem.layer.synapse)) {
      return Verdict::No(
          fmt::format("the oneDNN kernel computes dot layers only, not {}", SynapseName(problem.layer.synapse)));
    }
    if (kernel_ == "onednn" && problem.dtype != DType::kF32) {
      return Verdict::No("the oneDNN kernel computes in f32 only");
    }
    if (problem.precision == Precision::kBFloat16) {
      return SupportsMixed(problem);
    }
    return HostBackend::Supports(problem);
  }

  std::vector<Plan> Candidates(const Problem& problem) const override {
    if (!Supports(problem)) {
      return {};
    }
    const bool onednn = kernel_ != "own" && cpu::OnednnMatmul::Available() && problem.dtype == DType::kF32 &&
                        !IsDistance(problem.layer.synapse);
    const cpu::TileShape shape =
        problem.dtype == DType::kF64 ? cpu::Kernels<double>().shape : cpu::Kernels<float>().shape;
    return cpu::CandidatePlans(problem, shape, threads(), onednn);
  }

  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    RequireSupport(*this, request);
    if (kernel_ == "onednn" && request.any_slicing) {
      throw Error(ErrorCode::kUnsupported, "the oneDNN kernel does not promise the same bits for every slicing");
    }
    const cpu::PassPlans plans = PlansFor(request);
    if (request.precision == Precision::kBFloat16) {
      return std::make_unique<MixedLayer>(request, plans);
    }
    if (cpu::NeedsTypedLayer(request)) {
      return cpu::MakeTypedLayer(request, plans[0]);
    }
    if (std::any_of(plans.begin(), plans.end(), [](const cpu::PassPlan& plan) { return plan.kernel == "onednn"; })) {
      return std::make_unique<OnednnLayer>(request, plans);
    }
    return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<PreparedLayer> {
      return std::make_unique<OwnLayer<T>>(request, plans);
    });
  }

  std::unique_ptr<PreparedNetwork> PrepareNetwork(const NetworkPlanRequest& request, Verdict* why) const override {
    *why = kernel_ == "auto" ? cpu::SuitsSmallNetwork(request)
                             : Verdict::No(fmt::format("kernel {} computes layer by layer", kernel_));
    return *why ? cpu::MakeSmallNetwork(request) : nullptr;
  }

 private:
  Verdict SupportsMixed(const Problem& problem) const {
    if (problem.dtype != DType::kF32 || IsDistance(problem.layer.synapse)) {
      return Verdict::No(fmt::format("bf16 operands are for dot layers in f32, not {} in {}",
                                     SynapseName(problem.layer.synapse), DTypeName(problem.dtype)));
    }
    if (kernel_ == "onednn") {
      return Verdict::No("the oneDNN kernel computes in full f32");
    }
    return MultipliesPairs()
               ? Verdict::Yes()
               : Verdict::YesBut("bf16 without hardware for it: operands are rounded, no faster than exact");
  }

  cpu::PassPlans PlansFor(const LayerPlanRequest& request) const {
    cpu::PassPlans plans;
    for (size_t pass = 0; pass < plans.size(); ++pass) {
      const Problem problem{request.layer, static_cast<Pass>(pass), request.max_batch, request.dtype,
                            request.precision};
      Plan plan = plans_ == nullptr ? Plan() : plans_->PlanFor(problem);
      if (kernel_ == "onednn") {
        plan.kernel = "onednn";
      } else if (plan.kernel == "onednn" &&
                 (kernel_ == "own" || request.precision == Precision::kBFloat16 || !cpu::OnednnMatmul::Available() ||
                  request.dtype != DType::kF32 || IsDistance(request.layer.synapse))) {
        plan.kernel.clear();
      }
      plans[pass] = cpu::PassPlan(plan, request, threads());
    }
    return plans;
  }

  std::string kernel_;
  std::shared_ptr<const PlanSource> plans_;
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend(const BackendOptions& options) {
  cpu::ApplyInstructionSets();
  IndexOfName(options.kernel, std::vector<std::string>{"auto", "own", "onednn"}, "unknown kernel of backend cpu");
  return std::make_unique<CpuBackend>(options);
}

}  // namespace lamina
