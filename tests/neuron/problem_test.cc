// The text form of problems.
#include "lamina/neuron/problem.h"

#include "gtest/gtest.h"
#include "lamina/base/error.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"

namespace lamina {
namespace {

TEST(Problem, TextRoundTrip) {
  size_t n = 0;
  for (const char* activation :
       {"tanh", "bipolar_sigmoid(gain=-2,threshold=-0.5)", "softmax", "triangle(radius=12)", "gaussian(radius=0.1)"}) {
    for (const bool bias : {true, false}) {
      for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
        for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
          Problem problem;
          const Synapse synapse = ParseSynapse(SynapseNames()[n++ % 4]);
          problem.layer = {784, 1024, synapse, Activation(activation), bias};
          problem.pass = pass;
          problem.batch = 128;
          problem.dtype = dtype;
          const Problem again = Problem::Parse(problem.Text());
          EXPECT_EQ(again.layer, problem.layer) << problem.Text();
          EXPECT_EQ(again.pass, pass);
          EXPECT_EQ(again.batch, 128);
          EXPECT_EQ(again.dtype, dtype);
          EXPECT_EQ(again.Text(), problem.Text());
        }
      }
    }
  }
}

TEST(Problem, TextAsDocumented) {
  EXPECT_EQ(Problem::Parse("dot-tanh:f32:forward:128x1024x784").layer.inputs, 784);
  EXPECT_EQ(Problem::Parse("dot-tanh:f32:forward:128x1024x784").layer.outputs, 1024);
  EXPECT_EQ(Problem::Parse("dot-tanh:f32:forward:128x1024x784").batch, 128);
  EXPECT_FALSE(Problem::Parse("dot-tanh-nobias:f64:weight_gradient:0x1x0").layer.bias);
  EXPECT_FALSE(Problem::Parse("l1-triangle:f32:forward:1x1x1").layer.bias);
  EXPECT_TRUE(Problem::Parse("l1-triangle-bias:f32:forward:1x1x1").layer.bias);
  EXPECT_EQ(Problem::Parse("l1-identity-bias:u8:forward:1x2x3").Text(), "l1-identity-bias:u8:forward:1x2x3");
  EXPECT_EQ(Problem::Parse("dot-tanh-bias:u8:forward:1x2x3").Text(), "dot-tanh:u8:forward:1x2x3");
  EXPECT_EQ(Problem::Parse("l1-identity:f32-fast:forward:1x2x3").precision, Precision::kFast);
  EXPECT_EQ(Problem::Parse("l1-identity:f32-fast:forward:1x2x3").Text(), "l1-identity:f32-fast:forward:1x2x3");
  const Activation custom[] = {Activation::Custom<Softplus>()};
  EXPECT_EQ(Problem::Parse("dot-my_softplus:f32:forward:1x2x3", custom).Text(), "dot-my_softplus:f32:forward:1x2x3");
}

TEST(Neuron, Presets) {
  EXPECT_EQ(ParseNeuron("rbf"), ParseNeuron("l1-triangle"));
  EXPECT_EQ(ParseNeuron("mul"), ParseNeuron("dot-tanh"));
  EXPECT_EQ(NeuronText(ParseNeuron("rbf(radius=12)")), "l1-triangle(radius=12)");
  EXPECT_EQ(NeuronText(ParseNeuron("mul-nobias")), "dot-tanh-nobias");
  EXPECT_EQ(NeuronText(ParseNeuron("rbf-radius")), "l1-triangle(radius=1)-radius");
  EXPECT_EQ(Problem::Parse("rbf(radius=12):f32:forward:1x2x3").Text(), "l1-triangle(radius=12):f32:forward:1x2x3");
  EXPECT_EQ(Problem::Parse("mul:f64:weight_gradient:1x2x3").Text(), "dot-tanh:f64:weight_gradient:1x2x3");
  for (const char* text : {"rbfs", "rbf-tanh", "mul-relu", "mul(gain=1)", "rbf(radius=0)", "rbf(radius=1", ""}) {
    EXPECT_EQ(CaughtError([&] { ParseNeuron(text); }).code(), ErrorCode::kInvalidArgument) << text;
  }
}

TEST(Neuron, TrainedRadius) {
  const LayerSpec layer = ParseNeuron("l1-triangle(radius=12)-radius");
  EXPECT_TRUE(layer.trained_radius);
  EXPECT_FALSE(layer.bias);
  EXPECT_EQ(layer.activation.radius(), 12);
  for (const char* text : {"l1-triangle(radius=12)-radius", "l2-gaussian(radius=3)-radius",
                           "dot-gaussian(radius=1)-radius", "l1-triangle(radius=12)", "l1-triangle(radius=12)-bias"}) {
    EXPECT_EQ(NeuronText(ParseNeuron(text)), text);
  }
  EXPECT_EQ(ParseNeuron("rbf-radius-nobias"), ParseNeuron("rbf-nobias-radius"));
  EXPECT_TRUE(Mentions(CaughtError([] { ParseNeuron("dot-tanh-radius"); }).what(), "tanh has no radius to train"));
  EXPECT_TRUE(Mentions(CaughtError([] { ParseNeuron("rbf-radius-bias"); }).what(), "no bias"));
  EXPECT_TRUE(Mentions(CaughtError([] { ParseNeuron("rbf-bias-radius"); }).what(), "no bias"));
  EXPECT_TRUE(Mentions(CaughtError([] { Problem::Parse("rbf-radius:f32:forward:1x2x3"); }).what(), "network"));
  EXPECT_EQ((LayerSpec{3, 5, Synapse::kL1, "triangle", false, true}).parameter_count(), 3 * 5 + 5);
}

TEST(Problem, SynapsesByName) {
  EXPECT_EQ(SynapseNames(), (std::vector<std::string>{"dot", "l1", "l2", "l2sq"}));
  EXPECT_EQ(SynapseName(Synapse::kL2Squared), "l2sq");
  EXPECT_EQ(Problem::Parse("l1-triangle(radius=12):f32:forward:4096x4096x1024").layer.synapse, Synapse::kL1);
  EXPECT_FALSE(IsDistance(Synapse::kDot));
  EXPECT_TRUE(IsDistance(Synapse::kL1) && IsDistance(Synapse::kL2) && IsDistance(Synapse::kL2Squared));
  EXPECT_TRUE(SynapseNeedsDistance(Synapse::kL2) && !SynapseNeedsDistance(Synapse::kL1));
  const Error error = CaughtError([] { ParseSynapse("l2s"); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), "Did you mean 'l2"));
  EXPECT_TRUE(Mentions(error.what(), "Known: dot, l1, l2, l2sq."));
}

TEST(Problem, BadTexts) {
  for (const char* text : {"",
                           ":::",
                           "dot-tanh",
                           "dot-tanh:f32:forward",
                           "dot-tanh:f32:forward:1x2x3:4",
                           "dottanh:f32:forward:1x2x3",
                           "-tanh:f32:forward:1x2x3",
                           "dott-tanh:f32:forward:1x2x3",
                           "dot-tan:f32:forward:1x2x3",
                           "dot-:f32:forward:1x2x3",
                           "dot-tanh:f31:forward:1x2x3",
                           "dot-tanh:f32:backward:1x2x3",
                           "dot-tanh:f32::1x2x3",
                           "dot-tanh:f32:forward:1x2",
                           "dot-tanh:f32:forward:1x2x3x4",
                           "dot-tanh:f32:forward:1x2x",
                           "dot-tanh:f32:forward:1x2x-3",
                           "dot-tanh:f32:forward:1x2x3.0",
                           "dot-tanh:f32:forward:1x2x99999999999999999999",
                           "dot-tanh:f32:forward: 1x2x3",
                           "-nobias:f32:forward:1x2x3"}) {
    const Error error = CaughtError([&] { Problem::Parse(text); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_FALSE(error.message().empty());
  }
  EXPECT_TRUE(Mentions(CaughtError([] { Problem::Parse("l3-tanh:f32:forward:1x2x3"); }).what(), "synapse"));
  EXPECT_TRUE(Mentions(CaughtError([] { Problem::Parse("dot-tanh:f32:x:1x2x3"); }).what(), "pass"));
  EXPECT_TRUE(Mentions(CaughtError([] { Problem::Parse("dot-tanh:f32:forward:1x2"); }).what(), "shape"));
}

TEST(ParseNeuron, PresetsAndNeuronsWrittenOut) {
  EXPECT_EQ(ParseNeuron("rbf"), ParseNeuron("l1-triangle"));
  EXPECT_EQ(ParseNeuron("rbf(radius=12)"), ParseNeuron("l1-triangle(radius=12)"));
  EXPECT_EQ(ParseNeuron("mul"), ParseNeuron("dot-tanh"));
  EXPECT_EQ(ParseNeuron("mul-nobias").bias, false);
  EXPECT_TRUE(ParseNeuron("dot-tanh").bias);
  EXPECT_FALSE(ParseNeuron("l2-gaussian").bias);
  EXPECT_TRUE(ParseNeuron("l2-gaussian-bias").bias);
  EXPECT_EQ(Problem::Parse("rbf(radius=3):f32:forward:1x2x3").Text(), "l1-triangle(radius=3):f32:forward:1x2x3");
  EXPECT_THROW(ParseNeuron("tanh"), Error);
  EXPECT_THROW(ParseNeuron("l3-tanh"), Error);
}

}  // namespace
}  // namespace lamina
