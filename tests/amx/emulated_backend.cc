// Hands layers to the implementation for AMX as backend "cpu" would, without asking processor and system.
#include "tests/amx/emulated_backend.h"

#include "lamina/backend/backends.h"
#include "lamina/backend/cpu/amx_kernels.h"
#include "lamina/backend/cpu/amx_layer.h"
#include "lamina/backend/host_backend.h"
#include "tests/amx/amx_emulator.h"

namespace lamina::amx_emulated {
namespace {

cpu::InstructionSets SetsWithTiles() {
  cpu::InstructionSets sets = cpu::ApplyInstructionSets().used;
  sets.bf16_tiles = sets.byte_tiles = sets.bf16_products;
  return sets;
}

class AmxBackend final : public HostBackend {
 public:
  explicit AmxBackend(const BackendOptions& options)
      : HostBackend(ResolveThreads(options.threads)),
        plans_(options.plans),
        cpu_(lamina::MakeBackend("cpu", options)) {}

  std::string_view name() const override { return "cpu_amx"; }
  std::string Describe() const override { return cpu_->Describe() + ", AMX emulated"; }
  Verdict Supports(const Problem& problem) const override {
    const LayerPlanRequest request{problem.layer, problem.dtype, problem.batch, problem.pass != Pass::kForward,
                                   problem.precision};
    return cpu::AmxServes(request, SetsWithTiles()) ? Verdict::Yes() : cpu_->Supports(problem);
  }
  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    if (!cpu::AmxServes(request, SetsWithTiles())) {
      return cpu_->Prepare(request);
    }
    cpu::PassPlans plans;
    for (size_t pass = 0; pass < plans.size(); ++pass) {
      const Problem problem{request.layer, static_cast<Pass>(pass), request.max_batch, request.dtype,
                            request.precision};
      plans[pass] = cpu::PassPlan(plans_ == nullptr ? Plan() : plans_->PlanFor(problem), request, threads());
    }
    return cpu::MakeAmxLayer(request, plans);
  }

 private:
  EmulatedAmx amx_;
  std::shared_ptr<const PlanSource> plans_;
  std::unique_ptr<Backend> cpu_;
};

}  // namespace

bool Available() {
  return cpu::ApplyInstructionSets().used.bf16_products && cpu::AmxKernels().rounded.forward != nullptr;
}

std::unique_ptr<Backend> MakeBackend(const BackendOptions& options) { return std::make_unique<AmxBackend>(options); }

}  // namespace lamina::amx_emulated
