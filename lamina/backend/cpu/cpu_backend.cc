// Backend "cpu": walks the list of implementations (implementations.h) for every layer, with the plans of its passes.
#include "lamina/backend/cpu/cpu_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "lamina/backend/cpu/implementations.h"
#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/reductions.h"
#include "lamina/backend/cpu/row_block_layer.h"
#include "lamina/backend/cpu/row_block_network.h"
#include "lamina/backend/cpu/row_block_plan.h"
#include "lamina/backend/cpu/small_network.h"
#include "lamina/backend/host_backend.h"
#include "lamina/backend/requirements.h"
#include "lamina/backend/training_steps.h"
#include "lamina/base/names.h"

namespace lamina {
namespace {

class CpuBackend final : public HostBackend, public Reduces, public SuitsWholeNetworks {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : HostBackend(ResolveThreads(options.threads)), kernel_(options.kernel), plans_(options.plans) {}

  std::string_view name() const override { return "cpu"; }
  bool AnswersTrees() const override { return true; }

  std::string Describe() const override {
    const cpu::InstructionSetUse& use = cpu::ApplyInstructionSets();
    const std::string restriction = use.Restriction();
    return fmt::format("cpu: {}{}{}, {} thread{}", cpu::Kernels<float>().target,
                       restriction.empty() ? "" : fmt::format(" (LAMINA_ISA={})", restriction),
                       use.not_built.empty() ? "" : fmt::format(" (not built: {})", fmt::join(use.not_built, ", ")),
                       threads(), threads() == 1 ? "" : "s");
  }

  Verdict Supports(const Problem& problem) const override {
    Verdict verdict = CheckDType(problem);
    if (verdict) {
      cpu::ImplementationFor(RequestOf(problem), &verdict);
    }
    return verdict;
  }

  std::vector<Plan> Candidates(const Problem& problem) const override {
    if (!Supports(problem)) {
      return {};
    }
    std::vector<cpu::Candidate> candidates = cpu::ImplementationFor(RequestOf(problem))->candidates(problem, threads());
    std::ranges::stable_sort(candidates, {}, &cpu::Candidate::cost);
    std::vector<Plan> plans;
    std::ranges::transform(candidates, std::back_inserter(plans), &cpu::Candidate::plan);
    return plans;
  }

  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    RequireSupport(*this, request);
    const cpu::PassPlans plans = PlansFor(request);
    Verdict why;
    const cpu::CpuImplementation* const serving = cpu::ImplementationFor(request, &why);
    if (serving == nullptr) {  // a promise that RequireSupport() does not ask for
      throw Error(ErrorCode::kUnsupported, why.reason);
    }
    return serving->make(request, plans);
  }

  std::unique_ptr<PreparedNetwork> PrepareNetwork(const NetworkPlanRequest& request, Verdict* why) const override {
    if (kernel_ == "own") {
      *why = Verdict::No("kernel own computes layer by layer");
      return nullptr;
    }
    *why = kernel_ == "rows"    ? cpu::FitsRowBlocks(request)
           : kernel_ == "small" ? cpu::FitsSmallNetwork(request)
                                : cpu::SuitsSmallNetwork(request);
    if (kernel_ == "rows" ? why->ok : kernel_ == "auto" && cpu::SuitsRowBlocks(request, *why)) {
      *why = Verdict::Yes();
      return cpu::MakeRowBlockNetwork(request, threads());
    }
    return *why ? cpu::MakeSmallNetwork(request, threads()) : nullptr;
  }

  // Those that take blocks of rows with rounded operands, too: rounding costs, and saves nothing there.
  Verdict SuitsWhole(const NetworkPlanRequest& request) const override {
    NetworkPlanRequest rounded = request;
    rounded.precision = Precision::kBFloat16;
    return kernel_ == "auto" && cpu::SuitsRowBlocks(rounded, Verdict::No(""))
               ? Verdict::Yes()
               : Verdict::No("layers may be faster one by one");
  }

  void Update(const UpdateArgs& args) const noexcept override {
    DispatchFloat(args.dtype, [&]<class T>(T) {
      const cpu::RowBlockTable<T>& kernels = cpu::RowBlockKernels<T>();
      const UpdateNumbers<T> numbers = NumbersOf<T>(args.rule, args.decay);
      UpdateInPieces<T>(args, [&](int64_t begin, int64_t end) {
        const T* const gradient = static_cast<const T*>(args.arrays.gradient) + begin;
        kernels.update(*args.rule, numbers, {gradient, 1, 0, begin, end - begin}, args.arrays);
      });
    });
  }

  std::unique_ptr<NearSearch> PrepareNear(const LayerPlanRequest& request) const override {
    LayerPlanRequest in_one_order = request;
    in_one_order.any_slicing = true;
    return cpu::MakeNearSearch(request, cpu::PassPlan(Plan(), in_one_order, 1));
  }

  std::unique_ptr<GramSum> PrepareGram(const GramRequest& request) const override {
    return cpu::MakeGramSum(request, threads());
  }

 private:
  static LayerPlanRequest RequestOf(const Problem& problem) {
    return {problem.layer, problem.dtype, problem.batch, problem.pass != Pass::kForward, problem.precision};
  }

  cpu::PassPlans PlansFor(const LayerPlanRequest& request) const {
    cpu::PassPlans plans;
    for (size_t pass = 0; pass < plans.size(); ++pass) {
      const Problem problem{request.layer, static_cast<Pass>(pass), request.max_batch, request.dtype,
                            request.precision};
      plans[pass] = cpu::PassPlan(plans_ == nullptr ? Plan() : plans_->PlanFor(problem), request, threads());
    }
    return plans;
  }

  std::string kernel_;
  std::shared_ptr<const PlanSource> plans_;
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend(const BackendOptions& options) {
  cpu::ApplyInstructionSets();
  IndexOfName(options.kernel, cpu::CpuKernelNames(), "unknown kernel of backend cpu");
  return std::make_unique<CpuBackend>(options);
}

}  // namespace lamina
