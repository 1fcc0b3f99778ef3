// The search: every candidate plan computes the right thing, wrong ones never win, and levels do what they say.
#include "lamina/tune/tuner.h"

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/tune/pass_run.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

class OnePlan final : public PlanSource {
 public:
  explicit OnePlan(Plan plan) : plan_(std::move(plan)) {}
  Plan PlanFor(const Problem&) const override { return plan_; }

 private:
  Plan plan_;
};

// Small tiles and short blocks need scratch of other sizes than the estimate does.
TEST(Candidates, EveryPlanComputesTheSame) {
  for (const char* text :
       {"dot-tanh:f32:forward:37x53x1100", "dot-tanh:f32:forward:3x7x31", "dot-tanh:f32:forward:300x20x600",
        "dot-tanh:f64:input_gradient:61x700x33", "l1-triangle(radius=9):f32:weight_gradient:700x29x61",
        "l2-gaussian(radius=9):f64:input_gradient:33x600x47", "l1-identity:f32-fast:forward:50x60x2100",
        "l1-identity:u8:forward:70x50x9000", "dot-identity:bf16:forward:49x65x2500",
        "dot-relu:f32:weight_gradient:2100x17x50", "dot-relu:f32:forward:65x2100x1030",
        // Few rows and many columns, where threads pack panels of their own; short rows that are asked for.
        "dot-tanh:f32:input_gradient:61x33x700", "dot-tanh:f32-bf16:input_gradient:61x33x700",
        "l1-triangle(radius=9):f32:weight_gradient:40x61x900", "dot-tanh:f64:weight_gradient:50x19x500",
        "dot-relu:f32:forward:17x30000x20", "dot-relu:f32:forward:300x3000x40"}) {
    const Problem problem = Problem::Parse(text);
    const auto backend = MakeBackend("cpu", {.threads = 2});
    const std::vector<Plan> plans = backend->Candidates(problem);
    EXPECT_GE(plans.size(), 6U) << text;
    PassRun run(problem, *backend);
    for (size_t i = 0; i < plans.size(); i += 1 + plans.size() / 40) {
      const auto planned = MakeBackend("cpu", {.threads = 2, .plans = std::make_shared<OnePlan>(plans[i])});
      run.Prepare(*planned);
      const PassVerdict verdict = run.Verify();
      EXPECT_TRUE(verdict.verified) << text << " " << plans[i].Text() << " off by " << verdict.largest_error;
    }
  }
}

TEST(Candidates, NoneWhereNothingIsToChoose) {
  EXPECT_TRUE(MakeBackend("serial")->Candidates(Problem::Parse("dot-tanh:f32:forward:37x53x11")).empty());
  EXPECT_TRUE(MakeBackend("cpu")->Candidates(Problem::Parse("dot-tanh:u8:weight_gradient:37x53x11")).empty());
}

TEST(Tuner, EstimateMeasuresNothing) {
  const TuneResult result =
      TuneProblem(Problem::Parse("dot-tanh:f32:forward:16x64x64"), {.backend = "cpu", .level = TuneLevel::kEstimate});
  EXPECT_EQ(result.measured, 0);
  EXPECT_EQ(result.plan, Plan());
}

TEST(Tuner, MeasuresAFewOrAll) {
  const Problem problem = Problem::Parse("l1-identity:f32:forward:20x30x40");
  const TuneResult few = TuneProblem(problem, {.backend = "cpu", .threads = 1, .seconds = 1e-4});
  EXPECT_EQ(few.measured, 12);
  EXPECT_TRUE(few.wrong.empty());
  EXPECT_GE(few.gain(), 1.0);
  const TuneResult all =
      TuneProblem(problem, {.backend = "cpu", .threads = 1, .level = TuneLevel::kExhaustive, .seconds = 1e-5});
  EXPECT_GT(all.measured, few.measured);
}

TEST(Tuner, TheLimitLeavesTheRestOut) {
  const Problem problem = Problem::Parse("l1-identity:f32:forward:20x30x40");
  const TuneResult result = TuneProblem(
      problem, {.backend = "cpu", .threads = 1, .level = TuneLevel::kExhaustive, .seconds = 1e-5, .limit_seconds = 0});
  EXPECT_EQ(result.measured, 0);
  EXPECT_EQ(result.left_out, static_cast<int>(MakeBackend("cpu", {.threads = 1})->Candidates(problem).size()));
  EXPECT_EQ(result.plan, Plan());
  EXPECT_GT(result.estimate_seconds, 0);
}

TEST(Tuner, StopsWhenAsked) {
  const TuneResult result = TuneProblem(Problem::Parse("dot-tanh:f32:forward:20x30x40"),
                                        {.backend = "cpu", .stop_requested = [] { return true; }});
  EXPECT_EQ(result.plan, Plan());
}

TEST(Tuner, Errors) {
  EXPECT_NE(std::string(CaughtError([] { ParseTuneLevel("messure"); }).what()).find("measure"), std::string::npos);
  EXPECT_EQ(
      CaughtError([] { TuneProblem(Problem::Parse("l1-identity:f32:forward:2x3x4"), {.backend = "blas"}); }).code(),
      ErrorCode::kUnsupported);
  EXPECT_EQ(CaughtError([] { TuneProblem(Problem::Parse("dot-tanh:f32:forward:0x3x4"), {}); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(Tuner, UsualProblemsAreAllTunable) {
  const auto backend = MakeBackend("cpu");
  for (const Problem& problem : UsualProblems()) {
    EXPECT_TRUE(backend->Supports(problem)) << problem.Text();
  }
}

}  // namespace
}  // namespace lamina
