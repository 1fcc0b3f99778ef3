// The list of implementations of backend cpu: who takes which request, and that everybody else says why not.
#include "lamina/backend/cpu/implementations.h"

#include <gtest/gtest.h>

#include <set>

#include "lamina/backend/backends.h"
#include "lamina/backend/cpu/instruction_sets.h"

namespace lamina {
namespace {

std::vector<LayerPlanRequest> AllRequests() {
  std::vector<LayerPlanRequest> requests;
  for (const std::string& synapse : SynapseNames()) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kU8, DType::kI16,
                              DType::kI32, DType::kI64}) {
      for (const auto& [name, precision] : kPrecisions) {
        for (const bool training : {false, true}) {
          for (const bool any_slicing : {false, true}) {
            LayerPlanRequest request;
            request.layer.inputs = 24;
            request.layer.outputs = 32;
            request.layer.synapse = ParseSynapse(synapse);
            request.dtype = dtype;
            request.max_batch = 40;
            request.training = training;
            request.precision = precision;
            request.any_slicing = any_slicing;
            request.largest_x = request.largest_w = 100;
            requests.push_back(request);
          }
        }
      }
    }
  }
  return requests;
}

// Whether AMX serves a request of 40 samples and 32 outputs on this machine.
bool TakenByAmx(const LayerPlanRequest& request) {
  const cpu::InstructionSets& sets = cpu::ApplyInstructionSets().used;
  if (request.layer.synapse != Synapse::kDot || request.max_batch < 16) {
    return false;
  }
  if (request.dtype == DType::kI8 || request.dtype == DType::kU8) {
    return sets.byte_tiles;
  }
  const bool parts =
      (request.dtype == DType::kF32 || request.dtype == DType::kF16) && request.precision != Precision::kExact;
  return sets.bf16_tiles && (parts || request.dtype == DType::kBF16) && !request.any_slicing;
}

// By whom a request is served, said a second time; "" by nobody.
std::string Expected(const LayerPlanRequest& request) {
  const bool full = request.dtype == DType::kF32 || request.dtype == DType::kF64;
  const bool dot = request.layer.synapse == Synapse::kDot;
  if (!full && request.training) {
    return "";
  }
  if (request.precision == Precision::kBFloat16 && !(dot && request.dtype == DType::kF32)) {
    return "";
  }
  if (TakenByAmx(request)) {
    return "AMX tiles";
  }
  if (request.precision == Precision::kBFloat16) {
    return "bf16 product";
  }
  const bool fast = request.precision == Precision::kFast && request.layer.synapse == Synapse::kL1 && !request.training;
  return full && !fast ? "tile" : "group";
}

Problem ProblemOf(const LayerPlanRequest& request) {
  return {request.layer, request.training ? Pass::kWeightGradient : Pass::kForward, request.max_batch, request.dtype,
          request.precision};
}

TEST(CpuImplementations, EveryRequestGoesToOne) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu");
  std::set<std::string> taken;
  for (const LayerPlanRequest& request : AllRequests()) {
    SCOPED_TRACE(ProblemOf(request).Text());
    const Verdict supports = backend->Supports(ProblemOf(request));
    const std::string expected = Expected(request);
    EXPECT_EQ(supports.ok, !expected.empty()) << supports.reason;
    EXPECT_EQ(supports.ok, !backend->Candidates(ProblemOf(request)).empty());
    if (!supports) {
      EXPECT_FALSE(supports.reason.empty());
      continue;
    }
    const cpu::CpuImplementation* const serving = cpu::ImplementationFor(request);
    ASSERT_NE(serving, nullptr);
    EXPECT_EQ(serving->name, expected);
    EXPECT_NE(serving->make(request, {}), nullptr) << serving->name;
    taken.emplace(serving->name);
  }
  const cpu::InstructionSets& sets = cpu::ApplyInstructionSets().used;
  for (const cpu::CpuImplementation& each : cpu::CpuImplementations()) {
    const bool absent = each.name == "AMX tiles" && !sets.bf16_tiles && !sets.byte_tiles;
    EXPECT_NE(taken.contains(std::string(each.name)), absent) << each.name;
  }
}

TEST(CpuImplementations, WhoDeclinesSaysWhy) {
  for (const LayerPlanRequest& request : AllRequests()) {
    for (const cpu::CpuImplementation& each : cpu::CpuImplementations()) {
      const Verdict verdict = each.accepts(request);
      EXPECT_TRUE(verdict.ok || !verdict.reason.empty()) << each.name << " for " << ProblemOf(request).Text();
    }
  }
}

// A profile of another build or a hand-written one: whoever does not know a plan's kernel goes by its own rule.
class UnknownPlans final : public PlanSource {
 public:
  Plan PlanFor(const Problem&) const override { return {.kernel = "onednn"}; }
};

TEST(CpuImplementations, APlanOfAnUnknownKernelChangesNothing) {
  const std::unique_ptr<Backend> plain = MakeBackend("cpu", {.kernel = "own", .plans = nullptr});
  const std::unique_ptr<Backend> planned =
      MakeBackend("cpu", {.kernel = "own", .plans = std::make_shared<UnknownPlans>()});
  for (LayerPlanRequest request : AllRequests()) {
    if (Expected(request).empty()) {
      continue;
    }
    for (const int64_t batch : {4, 40}) {  // dot products, tiles
      request.max_batch = batch;
      const std::string description = plain->Prepare(request)->Describe();
      EXPECT_EQ(planned->Prepare(request)->Describe(), description) << ProblemOf(request).Text();
    }
  }
}

}  // namespace
}  // namespace lamina
