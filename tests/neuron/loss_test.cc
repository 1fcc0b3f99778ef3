// Losses: text forms, which output activations and targets they accept.
#include "lamina/neuron/loss.h"

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"

namespace lamina {
namespace {

TEST(Loss, TextsRoundTrip) {
  for (const std::string& name : LossNames()) {
    const Loss loss = Loss::Parse(name);
    EXPECT_EQ(loss.name(), name);
    EXPECT_EQ(Loss::Parse(loss.Text()), loss);
    EXPECT_EQ(Loss(loss.kind()), loss) << "the default parameters";
  }
  EXPECT_EQ(Loss::Parse("mse"), Loss::kMse);
  EXPECT_EQ(Loss::Parse("cross_entropy"), Loss::kCrossEntropy);
  EXPECT_EQ(Loss::Parse("binary_cross_entropy"), Loss::kBinaryCrossEntropy);
  EXPECT_EQ(Loss::Parse("mae"), Loss::kMae);
  EXPECT_EQ(Loss::Parse("huber"), Loss::kHuber);
  EXPECT_EQ(Loss::Parse("mse").Text(), "mse");
  EXPECT_EQ(Loss::Parse("huber").Text(), "huber(delta=1)");
  EXPECT_EQ(Loss::Parse("huber(delta=0.25)").Text(), "huber(delta=0.25)");
  EXPECT_NE(Loss::Parse("huber(delta=0.25)"), Loss::kHuber);
}

TEST(Loss, UnknownNamesAndBadTexts) {
  const Error error = CaughtError([] { Loss::Parse("cross_entropie"); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), "Did you mean 'cross_entropy'?"));
  for (const char* text : {"", "MSE", "mse(", "mse()", "mse(delta=1)", "huber()", "huber(delta=0)", "huber(delta=-1)",
                           "huber(delta=nan)", "huber(delta=inf)", "huber(d=1)", "huber(delta=1", "huber(delta=1)x"}) {
    EXPECT_EQ(CaughtError([&] { Loss::Parse(text); }).code(), ErrorCode::kInvalidArgument) << text;
  }
  EXPECT_TRUE(Mentions(CaughtError([] { Loss::Parse("huber(delta=0)"); }).what(), "delta of huber must be positive"));
}

TEST(Loss, AcceptsOrSaysWhyNot) {
  for (const std::string& name : ActivationNames()) {
    const Activation activation(name);
    for (const Loss loss : {Loss::kMse, Loss::kMae, Loss::kHuber}) {
      EXPECT_TRUE(LossAccepts(loss, activation)) << name;
    }
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

TEST(Loss, QuantilesAreLevels) {
  const double levels[] = {0.1, 0.5, 0.9};
  const Loss loss = Loss::Quantiles(levels);
  EXPECT_EQ(loss.Text(), "quantile(q1=0.1,q2=0.5,q3=0.9)");
  EXPECT_EQ(Loss::Parse(loss.Text()), loss);
  EXPECT_EQ(loss.levels(), (std::vector<double>{0.1, 0.5, 0.9}));
  EXPECT_EQ(Loss(Loss::kQuantile).levels(), (std::vector<double>{0.5}));
  EXPECT_TRUE(Loss(Loss::kMae).levels().empty());
  EXPECT_EQ(CaughtError([] { Loss::Parse("quantile(q1=0.1,q3=0.9)"); }).code(), ErrorCode::kInvalidArgument);
  for (const std::vector<double>& bad : std::vector<std::vector<double>>{
           {0.5, 0.5}, {0.9, 0.1}, {1.5}, {-0.5}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}}) {
    EXPECT_EQ(CaughtError([&] { Loss::Quantiles(bad); }).code(), ErrorCode::kInvalidArgument);
  }
}

TEST(Loss, SmoothsTargetsOfClasses) {
  const Loss::Smoothed cross = Loss(Loss::kCrossEntropy).Smooth(0.1, 4);
  EXPECT_NEAR(cross.keep * 1 + cross.even, 0.925, 1e-15);
  EXPECT_NEAR(cross.keep * 0 + cross.even, 0.025, 1e-15);
  const Loss::Smoothed binary = Loss(Loss::kBinaryCrossEntropy).Smooth(0.1, 1);
  EXPECT_NEAR(binary.keep * 1 + binary.even, 0.95, 1e-15);
  EXPECT_NEAR(binary.keep * 0 + binary.even, 0.05, 1e-15);
  for (const std::string& name : LossNames()) {
    EXPECT_EQ(LossSmooths(Loss::Parse(name)).ok, name.ends_with("cross_entropy") || name == "focal") << name;
  }
}

}  // namespace
}  // namespace lamina
