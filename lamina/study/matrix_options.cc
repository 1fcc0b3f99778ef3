// The usual work, and little of it.
#include "lamina/study/matrix_options.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace lamina {
namespace {

std::vector<Problem> Problems(std::initializer_list<const char*> texts) {
  std::vector<Problem> problems;
  std::transform(texts.begin(), texts.end(), std::back_inserter(problems),
                 [](const char* text) { return Problem::Parse(text); });
  return problems;
}

}  // namespace

MatrixOptions MatrixOptions::Usual() {
  return {.layers =
              Problems({"dot-tanh:f32:forward:1x1024x784", "dot-tanh:f32:forward:16x1024x784",
                        "dot-tanh:f32:forward:128x1024x784", "dot-tanh:f32:forward:1024x1024x784",
                        "dot-tanh:f32:input_gradient:16x1024x784", "dot-tanh:f32:input_gradient:128x1024x784",
                        "dot-tanh:f32:weight_gradient:16x1024x784", "dot-tanh:f32:weight_gradient:128x1024x784",
                        "dot-tanh:f32:weight_gradient:1024x1024x784", "dot-tanh:f32:forward:4095x4097x1023",
                        "dot-tanh:f32:forward:17x100003x65", "dot-tanh:bf16:forward:1024x1024x784",
                        "l1-triangle:f32:forward:1024x1024x784", "l1-triangle:f32-fast:forward:1024x1024x784",
                        "l1-triangle:f32:input_gradient:1024x1024x784", "l1-triangle:f32:weight_gradient:1024x1024x784",
                        "l1-triangle:u8:forward:1024x1024x784", "l1-triangle:f64:forward:1024x1024x784"}),
          .nets = {{784, 1024, 10}, {784, 1024, 1024, 10}},
          .rows = {{8, 4, 2, 1}, {64, 64, 10}, {784, 128, 10}, {784, 1024, 10}},
          .batches = {16, 128, 1024, 4096},
          .weights = {WeightStorage::kExact, WeightStorage::kBF16, WeightStorage::kI8},
          .steps = MatrixSteps(/*quick=*/false)};
}

MatrixOptions MatrixOptions::Quick() {
  MatrixOptions quick;
  quick.layers = Problems({"dot-tanh:f32:forward:128x256x256", "l1-triangle:f32:forward:128x256x256"});
  quick.nets = {{64, 128, 10}};
  quick.rows = {{8, 4, 2, 1}, {64, 128, 10}};
  quick.batches = {16, 128};
  quick.weights = {WeightStorage::kExact, WeightStorage::kI8};
  quick.steps = MatrixSteps(/*quick=*/true);
  quick.rounds = 3;
  quick.round_seconds = 0.02;
  return quick;
}

}  // namespace lamina
