// What the suites of layers on AMX tiles share: the fixture, requests and shapes.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "lamina/backend/cpu/amx_layer.h"
#include "tests/amx/amx_emulator.h"
#include "tests/amx/emulated_backend.h"
#include "tests/conformance/configurations.h"

namespace lamina::conformance {

/// Layers on tiles, emulated; skipped where the processor cannot round to bf16.
class AmxLayer : public testing::Test {
 protected:
  void SetUp() override {
    if (!amx_emulated::Available()) {
      GTEST_SKIP() << "needs AVX-512 BF16";
    }
  }
};

/// Whether products ran on tiles since it was made.
class OnTiles {
 public:
  /// Where the processor has tiles of its own, nobody counts: as expected.
  testing::AssertionResult Is(bool expected) const {
    const bool counted = amx_emulated::ExecutedInstructions() > before_;
    if (!amx_emulated::Emulates() || counted == expected) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << (counted ? "on tiles" : "not on tiles");
  }

 private:
  int64_t before_ = amx_emulated::ExecutedInstructions();
};

inline LayerPlanRequest RequestOf(const Shape& shape, Precision precision, const Activation& activation = "identity") {
  return {{shape.inputs, shape.outputs, Synapse::kDot, activation, true}, DType::kF32, shape.batch, true, precision};
}

/// Those whose operands are parts in bf16.
inline std::vector<Precision> PrecisionsOfParts(bool of_rounded) {
  std::vector<Precision> found;
  for (const auto& [name, precision] : kPrecisions) {
    if (precision != Precision::kExact && (of_rounded || precision != Precision::kBFloat16)) {
      found.push_back(precision);
    }
  }
  return found;
}

inline constexpr Shape kShapes[] = {{16, 24, 1},  {17, 25, 33},  {33, 31, 70},
                                    {32, 64, 32}, {49, 33, 129}, {40, 26, 2500}};

}  // namespace lamina::conformance
