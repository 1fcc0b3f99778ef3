// Steps recorded once and repeated by a device: backend cuda, or its emulation, against the plain loops.
#include <fmt/format.h>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "tests/conformance/configurations.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/steps_work.h"

namespace lamina {
namespace {

using namespace steps_work;  // NOLINT(google-build-using-namespace)

// Backend cuda, or its emulation: 1-sample steps fill a graph of many and some single ones, 7-sample ones end short.
void CheckRecorded(const Work& work, const std::string& what) {
  SCOPED_TRACE(what);
  const Outcome expected = Run(work, *MakeBackend("serial"), DType::kF64);
  const conformance::Chosen cuda({std::string(conformance::CudaUnderTest())});
  ExpectSame(Run(work, cuda.get(), DType::kF64), expected, 1e-11);
  const conformance::Chosen by_layers({std::string(conformance::CudaUnderTest()), "large"});  // small ones in f32, too
  ExpectSame(Run(work, by_layers.get(), DType::kF32), expected, BoundInF32(work.rule));
}

TEST(RecordedSteps, EveryRule) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const int64_t batch : {1, 7}) {
      CheckRecorded({Layers({5, 21, 3}, Synapse::kDot, "tanh", "tanh"), Loss::kMse, rule, batch},
                    ReferenceRuleName(rule));
    }
  }
}

TEST(RecordedSteps, ClippedAndSmoothed) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const int64_t batch : {1, 7}) {
      CheckRecorded({Layers({5, 21, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, rule, batch, false,
                     true, 0.1, 0.25},
                    ReferenceRuleName(rule));
    }
  }
  CheckRecorded(
      {ParseLayers("rbf(radius=9)-radius:6,dot-identity:2", 6, true), Loss::kHuber, Sgd(), 5, true, true, 0, 0.25},
      "radii");
}

TEST(RecordedSteps, SampleWeightsAndNoShuffling) {
  for (const bool shuffled : {true, false}) {
    CheckRecorded({Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), 4, true, shuffled},
                  fmt::format("shuffled {}", shuffled));
  }
}

TEST(RecordedSteps, Distances) {
  for (const char* layers : {"l1-triangle(radius=9):12,dot-identity:2", "l2-gaussian(radius=3):12,dot-identity:2",
                             "rbf(radius=9)-radius:6,dot-identity:2"}) {
    CheckRecorded({ParseLayers(layers, 6, true), Loss::kMse, Sgd(), 5}, layers);
  }
}

}  // namespace
}  // namespace lamina
