// Variants of kernels (backend/product_kernels.h) add up in the order of what they vary: they have its bits. Those that
// wait at barriers of shared memory cannot do without any of these waits.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/product_kernels.h"
#include "lamina/base/convert.h"
#include "tests/conformance/configurations.h"
#include "tests/cuda/emulated_backend.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::CudaUnderTest;
using conformance::Guarded;
using conformance::Shape;

struct VariantOperands {
  DType dtype;
  Precision precision;
  Synapse synapse;

  Problem Of(const Shape& shape) const {
    return {{shape.inputs, shape.outputs, synapse, "tanh", true}, Pass::kForward, shape.batch, dtype, precision};
  }
};
constexpr VariantOperands kVariantOperands[] = {{DType::kF32, Precision::kExact, Synapse::kL1},
                                                {DType::kF32, Precision::kFast, Synapse::kDot},
                                                {DType::kF32, Precision::kBFloat16, Synapse::kDot},
                                                {DType::kBF16, Precision::kExact, Synapse::kDot},
                                                {DType::kF16, Precision::kExact, Synapse::kDot}};

// `apart`: elements between rows, so that 0 lets rows of some widths stand where vectors may.
std::vector<float> Answers(std::string_view kernel, const VariantOperands& operands, const Shape& shape,
                           int64_t apart = 0) {
  const Chosen cuda({std::string(CudaUnderTest()), std::string(kernel)});
  const Problem problem = operands.Of(shape);
  const auto layer =
      cuda->Prepare({problem.layer, operands.dtype, shape.batch, /*training=*/false, operands.precision});
  EXPECT_NE(layer->Describe().find("kernel " + std::string(kernel) + " "), std::string::npos) << layer->Describe();
  Guarded<float> a(shape.batch, shape.outputs, 1);
  DispatchDType(operands.dtype, [&]<class E>(E) {
    if constexpr (!std::is_integral_v<E>) {
      Guarded<E> x(conformance::Reals(shape.batch, shape.inputs, 1), apart);
      Guarded<E> w(conformance::Reals(shape.outputs, shape.inputs, 2), apart);
      ForwardArgs args;
      args.x = x.view();
      args.weights = w.view();
      args.a = a.view();
      layer->Forward(args);
    }
  });
  EXPECT_TRUE(a.GuardsIntact());
  return a.bytes();
}

// Whether `tune` would race the variant: on this device, of these operands.
bool HasVariant(std::string_view kernel, const VariantOperands& operands, const Shape& shape) {
  const Chosen cuda({std::string(CudaUnderTest())});
  for (const Plan& plan : cuda.Candidates(operands.Of(shape))) {
    if (plan.kernel == kernel) {
      return true;
    }
  }
  return false;
}

TEST(CudaVariants, HaveTheBitsOfTheirBase) {
  int variants = 0;
  for (const ProductKernelRow& row : kProductKernels) {
    const std::string_view base = RowOf(row.base).name;
    for (const VariantOperands& operands : kVariantOperands) {
      // Less than a slab, some slabs in every place of the stages, and ragged tiles.
      for (const Shape& shape : {Shape{3, 5, 7}, {130, 140, 64}, {70, 260, 100}, {33, 9, 333}}) {
        if (base == row.name || !HasVariant(row.name, operands, shape)) {
          continue;
        }
        ++variants;
        SCOPED_TRACE(testing::Message() << row.name << " of " << DTypeName(operands.dtype) << ", " << shape.batch << "x"
                                        << shape.outputs << "x" << shape.inputs);
        for (const int64_t apart : {0, 3}) {
          const std::vector<float> wanted = Answers(base, operands, shape, apart);
          EXPECT_EQ(Answers(row.name, operands, shape, apart), wanted);
          EXPECT_NE(wanted[1], wanted[0]) << "it is the guard";
        }
      }
    }
  }
  EXPECT_TRUE(variants == 2 * 2 * 4 || CudaUnderTest() != conformance::kEmulatedCuda) << variants;
}

// More tiles than blocks, in clusters whose last block has no rows, and slabs that fill all stages twice.
TEST(CudaVariants, HaveItOverManyTilesOfABlock) {
  int variants = 0;
  for (const ProductKernelRow& row : kProductKernels) {
    for (const VariantOperands& operands : kVariantOperands) {
      const Shape shape{300, 520, 72};
      const Shape deep{60, 30, 1200};
      if (row.base == *FindKernel(row.name) || !HasVariant(row.name, operands, shape)) {
        continue;
      }
      ++variants;
      SCOPED_TRACE(testing::Message() << row.name << " of " << DTypeName(operands.dtype));
      EXPECT_EQ(Answers(row.name, operands, shape), Answers(RowOf(row.base).name, operands, shape));
      EXPECT_EQ(Answers(row.name, operands, deep), Answers(RowOf(row.base).name, operands, deep));
    }
  }
  EXPECT_TRUE(variants == 4 || CudaUnderTest() != conformance::kEmulatedCuda) << variants;
}

// Each wait that is left out gives other bits, or what the emulation refuses.
TEST(CudaVariantsDeathTest, CannotDoWithoutAWait) {
  if (CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "a GPU need not show it";
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Shape shapes[] = {{300, 70, 1200}, {300, 70, 64}, {40, 520, 448}};
  int seen = 0;
  for (const ProductKernelRow& row : kProductKernels) {
    for (const VariantOperands& operands : {kVariantOperands[3]}) {
      const bool pair = row.name == RowOf(ProductKernel::kWgmmaPingPongPair).name;
      if (row.base == *FindKernel(row.name) || !HasVariant(row.name, operands, shapes[0])) {
        continue;
      }
      for (const std::string& wait : cuda_emulated::WaitsToLeaveOut()) {
        if (wait.find("cluster") != std::string::npos && !pair) {
          continue;
        }
        ++seen;
        EXPECT_DEATH(
            {
              for (const Shape& shape : shapes) {
                cuda_emulated::LeaveOut("");
                const std::vector<float> wanted = Answers(row.name, operands, shape);
                std::fputs("with all waits\n", stderr);
                cuda_emulated::LeaveOut(wait);
                if (Answers(row.name, operands, shape) != wanted) {
                  std::fputs("other bits\n", stderr);
                  std::abort();
                }
              }
              std::exit(0);
            },
            "with all waits(.|\n)*(other bits|a barrier that nobody has begun|has ended|more arrivals|while its copies "
            "are under way|wait for each other for ever)")
            << row.name << " of " << DTypeName(operands.dtype) << " without: " << wait;
      }
    }
  }
  EXPECT_EQ(seen, 3 + 5) << "alone and in clusters";
}

}  // namespace
}  // namespace lamina
