// Names of losses, and which output activations they accept.
#include "lamina/neuron/loss.h"

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"

namespace lamina {
namespace {

TEST(Loss, NamesRoundTrip) {
  for (const std::string& name : LossNames()) {
    EXPECT_EQ(LossName(ParseLoss(name)), name);
  }
  EXPECT_EQ(ParseLoss("mse"), Loss::kMse);
  EXPECT_EQ(ParseLoss("cross_entropy"), Loss::kCrossEntropy);
  EXPECT_EQ(ParseLoss("binary_cross_entropy"), Loss::kBinaryCrossEntropy);
}

TEST(Loss, UnknownNames) {
  const Error error = CaughtError([] { ParseLoss("cross_entropie"); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), "Did you mean 'cross_entropy'?"));
  EXPECT_THROW(ParseLoss(""), Error);
  EXPECT_THROW(ParseLoss("MSE"), Error);
}

TEST(Loss, AcceptsOrSaysWhyNot) {
  for (const std::string& name : ActivationNames()) {
    const Activation activation(name);
    EXPECT_TRUE(LossAccepts(Loss::kMse, activation)) << name;
    const Verdict cross = LossAccepts(Loss::kCrossEntropy, activation);
    EXPECT_EQ(cross.ok, name == "softmax");
    const Verdict binary = LossAccepts(Loss::kBinaryCrossEntropy, activation);
    EXPECT_EQ(binary.ok, name == "sigmoid");
    if (!cross) {
      EXPECT_TRUE(Mentions(cross.reason, "softmax") && Mentions(cross.reason, name));
    }
    if (!binary) {
      EXPECT_TRUE(Mentions(binary.reason, "sigmoid") && Mentions(binary.reason, name));
    }
  }
  EXPECT_TRUE(LossAccepts(Loss::kMse, Activation::Custom<Swish>()));
  EXPECT_FALSE(LossAccepts(Loss::kCrossEntropy, Activation::Custom<Swish>()));
}

}  // namespace
}  // namespace lamina
