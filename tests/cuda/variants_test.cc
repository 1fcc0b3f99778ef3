// Variants of kernels (backend/product_kernels.h) add up in the order of what they vary: they have its bits.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/product_kernels.h"
#include "tests/conformance/configurations.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::CudaUnderTest;
using conformance::Guarded;

std::vector<float> Answers(std::string_view kernel, bool groups, const conformance::Shape& shape) {
  const Chosen cuda({std::string(CudaUnderTest()), std::string(kernel)});
  Guarded<float> x(conformance::Reals(shape.batch, shape.inputs, 1), 0);
  Guarded<float> w(conformance::Reals(shape.outputs, shape.inputs, 2), 3);
  Guarded<float> a(shape.batch, shape.outputs, 1);
  const auto layer = cuda->Prepare({{shape.inputs, shape.outputs, groups ? Synapse::kDot : Synapse::kL1, "tanh", true},
                                    DType::kF32,
                                    shape.batch,
                                    /*training=*/false,
                                    groups ? Precision::kFast : Precision::kExact});
  EXPECT_NE(layer->Describe().find("kernel " + std::string(kernel) + " "), std::string::npos) << layer->Describe();
  ForwardArgs args;
  args.x = x.view();
  args.weights = w.view();
  args.a = a.view();
  layer->Forward(args);
  EXPECT_TRUE(a.GuardsIntact());
  return a.bytes();
}

TEST(CudaVariants, HaveTheBitsOfTheirBase) {
  int variants = 0;
  for (const ProductKernelRow& row : kProductKernels) {
    const std::string_view base = RowOf(row.base).name;
    const bool groups = row.family == ProductFamily::kGroups;
    const Chosen cuda({std::string(CudaUnderTest()), std::string(row.name)});
    if (base == row.name || !cuda.Supports(Problem::Parse("dot-tanh:f32-fast:forward:8x8x8"))) {
      continue;  // not every GPU has groups of warps
    }
    ++variants;
    // Less than a slab, some slabs in every place of the stages, and ragged tiles.
    for (const conformance::Shape& shape :
         {conformance::Shape{3, 5, 7}, {130, 140, 64}, {70, 260, 100}, {33, 9, 333}}) {
      SCOPED_TRACE(testing::Message() << row.name << " " << shape.batch << "x" << shape.outputs << "x" << shape.inputs);
      const std::vector<float> wanted = Answers(base, groups, shape);
      EXPECT_EQ(Answers(row.name, groups, shape), wanted);
      EXPECT_NE(wanted[1], wanted[0]) << "it is the guard";
    }
  }
  EXPECT_GE(variants, 2);
}

}  // namespace
}  // namespace lamina
